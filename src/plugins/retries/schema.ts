import { array, type EntityCheck, type Infer, integer, record, set, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  retries: integer({
    required: true,
    default: 2,
    between: [0, 25],
    description: 'Maximum number of retries. Overrides `retries` of the service.',
  }),
  on: set(string({ one_of: ['connect-failure', 'timeout', 'broken-answer', 'status'] }), {
    required: true,
    default: ['connect-failure', 'timeout', 'broken-answer'],
    description:
      'What is retried: no connection; a timeout before the first byte of the response; a broken connection or a response that is not HTTP; one of `statuses`.',
  }),
  statuses: array(integer({ between: [400, 599] }), {
    required: true,
    default: [502, 503, 504],
    description: 'Statuses of the backend that are retried, with `status` in `on`.',
  }),
  methods: set(string({ match: /^[A-Z][A-Z0-9_-]*$/ }), {
    required: true,
    default: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'],
    description:
      'Methods that may be retried once the backend may have seen the request. If no connection was made, every method is retried.',
  }),
  try_timeout: integer({
    required: true,
    default: 0,
    between: [0, 86_400_000],
    description:
      'Timeout from the start of an attempt to the first byte of its response, in milliseconds. 0: no limit of its own.',
  }),
  backoff: integer({
    required: true,
    default: 25,
    between: [0, 60_000],
    description:
      'Maximum delay before the first retry, in milliseconds; doubled for each further one. The delay is random between 0 and that.',
  }),
  backoff_max: integer({
    required: true,
    default: 250,
    between: [0, 60_000],
    description: 'Maximum delay in milliseconds.',
  }),
  budget_percent: integer({
    required: true,
    default: 20,
    between: [0, 100],
    description: 'Maximum percentage of the live requests of the service that may be retries at any time.',
  }),
  budget_min: integer({
    required: true,
    default: 3,
    between: [0, 100_000],
    description: 'Number of simultaneous retries that are always allowed, for services with few requests.',
  }),
  total_timeout: integer({
    required: true,
    default: 0,
    between: [0, 86_400_000],
    description:
      'Timeout of the whole request in milliseconds, including all attempts and delays. 0: no limit. It overrides `total` of `timeouts`.',
  }),
  deadline_header: string({
    default: 'X-Request-Timeout',
    match: /^[A-Za-z0-9!#$%&*+.^_|~-]+$/,
    description: 'Header with the milliseconds of `total_timeout` that are left when an attempt begins. Null: none.',
  }),
});

export type RetriesConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [];
