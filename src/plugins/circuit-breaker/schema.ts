import { array, type EntityCheck, type Infer, integer, number, record, set, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  per: set(string({ one_of: ['target', 'service'] }), {
    required: true,
    len_min: 1,
    default: ['target'],
    description:
      'What has a circuit: each address of the upstream, so that the others take over; the service as a whole; or both.',
  }),
  window: number({
    required: true,
    default: 10,
    between: [0.1, 3_600],
    description: 'Seconds that are looked back on.',
  }),
  min_calls: integer({
    required: true,
    default: 20,
    between: [1, 1_000_000],
    description: 'Calls within the window before a ratio says anything.',
  }),
  error_ratio: number({
    required: true,
    default: 50,
    between: [0, 100],
    description: 'Percentage of failed calls at which the circuit opens; 0 turns this off.',
  }),
  slow_ratio: number({
    required: true,
    default: 0,
    between: [0, 100],
    description: 'Percentage of slow calls at which the circuit opens; 0 turns this off.',
  }),
  slow_call: integer({
    required: true,
    default: 1_000,
    between: [1, 600_000],
    description: 'Milliseconds to the first byte of the answer from which on a call is slow.',
  }),
  consecutive_failures: integer({
    required: true,
    default: 0,
    between: [0, 1_000_000],
    description: 'Failed calls in a row at which the circuit opens; 0 turns this off.',
  }),
  failure_statuses: array(integer({ between: [400, 599] }), {
    required: true,
    default: [500, 502, 503, 504],
    description: 'Answers of the backend that are failures. No connection, a broken one and a time-out always are.',
  }),
  pause: number({
    required: true,
    default: 5,
    between: [0.05, 3_600],
    description: 'Seconds that the circuit stays open; twice as long each time that the trials after it fail.',
  }),
  pause_max: number({
    required: true,
    default: 60,
    between: [0.05, 86_400],
    description: 'Seconds that the circuit stays open at most.',
  }),
  trials: integer({
    required: true,
    default: 3,
    between: [1, 10_000],
    description: 'Calls that are let through after the pause. All must succeed.',
  }),
  ramp: number({
    required: true,
    default: 10,
    between: [0, 3_600],
    description: 'Seconds over which the share of calls that are let through grows to all; 0: all at once.',
  }),
  fallback: string({
    required: true,
    default: 'none',
    one_of: ['none', 'answer', 'stale', 'upstream'],
    description:
      'What a request gets that no circuit lets through: 503; the answer of `fallback_*`; the last good answer to the same request; or the targets of another upstream.',
  }),
  fallback_status: integer({
    required: true,
    default: 503,
    between: [200, 599],
    description: 'Status of the answer of `fallback` `answer`.',
  }),
  fallback_content_type: string({
    required: true,
    default: 'application/json; charset=utf-8',
    description: 'Its `Content-Type`.',
  }),
  fallback_body: string({ description: 'Its body. Null: an empty one.' }),
  fallback_upstream: string({ len_min: 1, description: 'Name of the upstream of `fallback` `upstream`.' }),
  stale_max_age: number({
    required: true,
    default: 3_600,
    between: [1, 604_800],
    description: 'Seconds that an answer may be old for `fallback` `stale`.',
  }),
  stale_memory: integer({
    required: true,
    default: 16_777_216,
    between: [262_144, 1_073_741_824],
    description: 'Bytes of answers that the node keeps for `fallback` `stale`, in memory that its workers share.',
  }),
  stale_max_body: integer({
    required: true,
    default: 1_048_576,
    between: [1, 67_108_864],
    description: 'Largest answer in bytes that is kept for `fallback` `stale`.',
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
