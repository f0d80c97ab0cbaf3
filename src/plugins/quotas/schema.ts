import { windowOrderProblem } from '../../plugin-kit/fields/index.ts';
import { boolean, type EntityCheck, type Infer, integer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  day: integer({ gt: 0, description: 'Requests per day, in UTC.' }),
  month: integer({ gt: 0, description: 'Requests per month, in UTC.' }),
  limit_by: string({
    required: true,
    default: 'consumer',
    one_of: ['consumer', 'credential', 'ip'],
    description:
      'What identifies a client. Requests without a consumer are counted by their credential, or else by their address.',
  }),
  ipv6_prefix: integer({
    required: true,
    default: 64,
    between: [1, 128],
    description: 'Length of the IPv6 prefix that counts as one client.',
  }),
  fault_tolerant: boolean({
    required: true,
    default: true,
    description:
      'While the store is unavailable: true lets each node accept its share of what is left, false answers requests with 500.',
  }),
  hide_client_headers: boolean({
    required: true,
    default: false,
    description: 'Does not send the headers with quotas and remaining requests.',
  }),
  error_code: integer({
    required: true,
    default: 429,
    between: [400, 599],
    description: 'Status code of the response when a quota is used up.',
  }),
  error_message: string({
    required: true,
    default: 'Quota exceeded',
    description: 'Message of the response when a quota is used up.',
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
