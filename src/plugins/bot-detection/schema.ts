import { array, type Infer, record, regex } from '../../plugin-sdk/schema.ts';

export const config = record({
  allow: array(regex({ description: 'A regular expression, found anywhere in the `User-Agent`.' }), {
    default: [],
    description: 'User agents that pass, whatever the other lists say.',
  }),
  deny: array(regex({ description: 'A regular expression, found anywhere in the `User-Agent`.' }), {
    default: [],
    description: 'User agents that are refused beside those that are known as bots.',
  }),
});

export type BotDetectionConfig = Infer<typeof config>;
