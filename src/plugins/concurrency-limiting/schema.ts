import { clientLimitChecks, clientLimitFields } from '../../plugin-kit/fields/index.ts';
import { type Infer, integer, record } from '../../plugin-sdk/schema.ts';

export const config = record({
  limit: integer({
    required: true,
    between: [1, 1_000_000],
    description: 'Maximum number of requests in flight at the same time.',
  }),
  ...clientLimitFields('Too many concurrent requests'),
});

export type ConcurrencyLimitingConfig = Infer<typeof config>;

export const checks = clientLimitChecks;
