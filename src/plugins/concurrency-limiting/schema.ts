import { type EntityCheck, headerName, type Infer, integer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  limit: integer({ required: true, between: [1, 1_000_000], description: 'Requests in flight at the same time.' }),
  limit_by: string({
    required: true,
    default: 'consumer',
    one_of: ['consumer', 'credential', 'ip', 'route', 'service', 'header'],
    description:
      'Whose requests are counted together. Where there is no such thing, it is the credential (for `consumer`), and then the address.',
  }),
  header_name: headerName({ description: 'The header whose value is counted; for `header`.' }),
  ipv6_prefix: integer({
    required: true,
    default: 64,
    between: [1, 128],
    description: 'IPv6 addresses that have this many bits in common are one client.',
  }),
  error_code: integer({ required: true, default: 429, between: [400, 599], description: 'Status of a refusal.' }),
  error_message: string({
    required: true,
    default: 'Too many concurrent requests',
    description: 'Message of a refusal.',
  }),
});

export type ConcurrencyLimitingConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    conditional: {
      if_field: 'config.limit_by',
      if_match: { eq: 'header' },
      then_field: 'config.header_name',
      then_match: { required: true },
    },
  },
];
