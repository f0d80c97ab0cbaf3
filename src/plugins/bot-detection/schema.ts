import { array, type Infer, record, regex } from '../../plugin-sdk/schema.ts';

export const config = record({
  allow: array(regex({ description: 'A regular expression, found anywhere in the `User-Agent`.' }), {
    default: [],
    description: 'Regular expressions of user agents that pass, whatever the other lists say.',
  }),
  deny: array(regex({ description: 'A regular expression, found anywhere in the `User-Agent`.' }), {
    default: [],
    description: 'Regular expressions of user agents that are rejected in addition to the built-in list.',
  }),
});

export type BotDetectionConfig = Infer<typeof config>;
