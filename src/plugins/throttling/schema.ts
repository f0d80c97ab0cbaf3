import { clientLimitChecks, clientLimitFields, rate } from '../../plugin-kit/fields/index.ts';
import { type Infer, integer, record } from '../../plugin-sdk/schema.ts';

export const config = record({
  rate: rate({
    required: true,
    description: 'Rate at which requests of one client are forwarded: `10r/s`, `300r/m`.',
  }),
  burst: integer({
    required: true,
    default: 0,
    between: [0, 1_000_000],
    description: 'Number of requests over the rate that are forwarded without delay.',
  }),
  queue_size: integer({
    required: true,
    default: 100,
    between: [1, 100_000],
    description: 'Maximum number of waiting requests of one client, over all workers of the node.',
  }),
  max_wait: integer({
    required: true,
    default: 10_000,
    between: [1, 600_000],
    unit: 'ms',
    description: 'Maximum delay. Requests that would have to wait longer are rejected at once.',
  }),
  max_waiting: integer({
    required: true,
    default: 1000,
    between: [1, 100_000],
    description: 'Maximum number of waiting requests of all clients in one worker. Each of them holds a connection.',
  }),
  ...clientLimitFields('Too many requests'),
});

export type ThrottlingConfig = Infer<typeof config>;

export const checks = clientLimitChecks;
