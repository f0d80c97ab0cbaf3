import { array, type EntityCheck, type Infer, integer, number, record, set, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  per: set(string({ one_of: ['target', 'service'] }), {
    required: true,
    len_min: 1,
    default: ['target'],
    description:
      'Scope of a circuit: `target`: each address of the upstream, so that the others take over. `service`: the whole service.',
  }),
  window: number({
    required: true,
    default: 10,
    between: [0.1, 3_600],
    description: 'Length of the window over which calls are counted, in seconds.',
  }),
  min_calls: integer({
    required: true,
    default: 20,
    between: [1, 1_000_000],
    description: 'Minimum number of calls within the window before a ratio counts.',
  }),
  error_ratio: number({
    required: true,
    default: 50,
    between: [0, 100],
    description: 'Percentage of failed calls at which the circuit opens. 0: off.',
  }),
  slow_ratio: number({
    required: true,
    default: 0,
    between: [0, 100],
    description: 'Percentage of slow calls at which the circuit opens. 0: off.',
  }),
  slow_call: integer({
    required: true,
    default: 1_000,
    between: [1, 600_000],
    description: 'Time to the first byte of the response, in milliseconds, from which a call is slow.',
  }),
  consecutive_failures: integer({
    required: true,
    default: 0,
    between: [0, 1_000_000],
    description: 'Number of failed calls in a row at which the circuit opens. 0: off.',
  }),
  failure_statuses: array(integer({ between: [400, 599] }), {
    required: true,
    default: [500, 502, 503, 504],
    description: 'Statuses of the backend that are failures. No connection, a broken one and a timeout always are.',
  }),
  pause: number({
    required: true,
    default: 5,
    between: [0.05, 3_600],
    description: 'Time that the circuit stays open, in seconds. It doubles each time the trials fail.',
  }),
  pause_max: number({
    required: true,
    default: 60,
    between: [0.05, 86_400],
    description: 'Maximum time that the circuit stays open, in seconds.',
  }),
  trials: integer({
    required: true,
    default: 3,
    between: [1, 10_000],
    description: 'Number of calls that pass after the pause. All must succeed.',
  }),
  ramp: number({
    required: true,
    default: 10,
    between: [0, 3_600],
    description: 'Time over which the fraction of calls that pass grows to all, in seconds. 0: all at once.',
  }),
  fallback: string({
    required: true,
    default: 'none',
    one_of: ['none', 'answer', 'stale', 'upstream'],
    description:
      'Response to requests that no circuit lets through: `none`: 503. `answer`: the response of `fallback_*`. `stale`: the last good response to the same request. `upstream`: the targets of another upstream.',
  }),
  fallback_status: integer({
    required: true,
    default: 503,
    between: [200, 599],
    description: 'Status code for `fallback` `answer`.',
  }),
  fallback_content_type: string({
    required: true,
    default: 'application/json; charset=utf-8',
    description: '`Content-Type` for `fallback` `answer`.',
  }),
  fallback_body: string({ description: 'Body for `fallback` `answer`. Null: an empty one.' }),
  fallback_upstream: string({ len_min: 1, description: 'Name of the upstream for `fallback` `upstream`.' }),
  stale_max_age: number({
    required: true,
    default: 3_600,
    between: [1, 604_800],
    description: 'Maximum age of a response for `fallback` `stale`, in seconds.',
  }),
  stale_memory: integer({
    required: true,
    default: 16_777_216,
    between: [262_144, 1_073_741_824],
    description: 'Memory for responses of `fallback` `stale`, in bytes. The workers of the node share it.',
  }),
  stale_max_body: integer({
    required: true,
    default: 1_048_576,
    between: [1, 67_108_864],
    description: 'Maximum size of a response that is stored for `fallback` `stale`, in bytes.',
  }),
});

export type CircuitBreakerConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    conditional: {
      if_field: 'config.fallback',
      if_match: { eq: 'upstream' },
      then_field: 'config.fallback_upstream',
      then_match: { required: true },
    },
  },
];
