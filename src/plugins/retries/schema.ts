import { array, type EntityCheck, type Infer, integer, record, set, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  retries: integer({
    required: true,
    default: 2,
    between: [0, 25],
    description: 'Attempts beyond the first one, in the place of `retries` of the service.',
  }),
  on: set(string({ one_of: ['connect-failure', 'timeout', 'broken-answer', 'status'] }), {
    required: true,
    default: ['connect-failure', 'timeout', 'broken-answer'],
    description:
      'What is tried again: no connection; a time-out before the first byte of the answer; a connection that broke or an answer that was no HTTP; one of `statuses`.',
  }),
  statuses: array(integer({ between: [400, 599] }), {
    required: true,
    default: [502, 503, 504],
    description: 'Statuses of the backend that are tried again; with `status` in `on`.',
  }),
  methods: set(string({ match: /^[A-Z][A-Z0-9_-]*$/ }), {
    required: true,
    default: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'],
    description:
      'Methods that may be sent again once the backend may have seen the request. When no connection was made, every method is tried again.',
  }),
  try_timeout: integer({
    required: true,
    default: 0,
    between: [0, 86_400_000],
    description: 'Milliseconds from the start of an attempt to the first byte of its answer; 0: no limit of its own.',
  }),
  backoff: integer({
    required: true,
    default: 25,
    between: [0, 60_000],
    description:
      'Milliseconds before the first retry, at most; doubled for each one after it. The pause is chosen by chance between 0 and that.',
  }),
  backoff_max: integer({
    required: true,
    default: 250,
    between: [0, 60_000],
    description: 'Longest pause in milliseconds.',
  }),
  budget_percent: integer({
    required: true,
    default: 20,
    between: [0, 100],
    description: 'Share of the live requests of the service that may be retries at any time.',
  }),
  budget_min: integer({
    required: true,
    default: 3,
    between: [0, 100_000],
    description: 'Retries at the same time that are always allowed, for services with few requests.',
  }),
  total_timeout: integer({
    required: true,
    default: 0,
    between: [0, 86_400_000],
    description:
      'Milliseconds for the whole request, all attempts and pauses included; 0: no limit. It stands above `total` of `timeouts`.',
  }),
  deadline_header: string({
    default: 'X-Request-Timeout',
    match: /^[A-Za-z0-9!#$%&*+.^_|~-]+$/,
    description:
      'Header that tells the backend how many milliseconds of `total_timeout` are left when an attempt begins. Null: none.',
  }),
});

export type RetriesConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [];
