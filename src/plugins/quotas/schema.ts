import {
  boolean,
  type EntityCheck,
  type Infer,
  integer,
  record,
  string,
  windowOrderProblem,
} from '../../plugin-sdk/schema.ts';

export const config = record({
  day: integer({ gt: 0, description: 'Requests in one day, in UTC.' }),
  month: integer({ gt: 0, description: 'Requests in one month, in UTC.' }),
  limit_by: string({
    required: true,
    default: 'consumer',
    one_of: ['consumer', 'credential', 'ip'],
    description: 'Who has the quota. Without a consumer it is the credential, and without that the address.',
  }),
  ipv6_prefix: integer({
    required: true,
    default: 64,
    between: [1, 128],
    description: 'IPv6 addresses that have this many bits in common are one client.',
  }),
  fault_tolerant: boolean({
    required: true,
    default: true,
    description:
      'While the store cannot be reached: true lets each node go on by what it has let through itself, false answers ' +
      'requests with 500.',
  }),
  hide_client_headers: boolean({
    required: true,
    default: false,
    description: 'Keeps the headers with quotas and what is left of them from clients.',
  }),
  error_code: integer({
    required: true,
    default: 429,
    between: [400, 599],
    description: 'Status of the answer when a quota is used up.',
  }),
  error_message: string({
    required: true,
    default: 'Quota exceeded',
    description: 'Message of the answer when a quota is used up.',
  }),
});

export type QuotasConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { at_least_one_of: ['config.day', 'config.month'] },
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: given }) => {
        const problem = windowOrderProblem(given as Pick<QuotasConfig, 'day' | 'month'>);
        return problem === null ? null : { config: problem };
      },
    },
  },
];
