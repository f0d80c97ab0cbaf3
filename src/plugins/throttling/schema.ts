import { type EntityCheck, headerName, type Infer, integer, rate, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  rate: rate({
    required: true,
    description: 'How fast requests of one client go on to the backend: `10r/s`, `300r/m`.',
  }),
  burst: integer({
    required: true,
    default: 0,
    between: [0, 1_000_000],
    description: 'Requests beyond the rate that go on without waiting.',
  }),
  queue_size: integer({
    required: true,
    default: 100,
    between: [1, 100_000],
    description: 'Requests of one client that wait at the same time, on all workers of the node.',
  }),
  max_wait: integer({
    required: true,
    default: 10_000,
    between: [1, 600_000],
    unit: 'ms',
    description: 'A request that would have to wait for longer is refused at once.',
  }),
  max_waiting: integer({
    required: true,
    default: 1000,
    between: [1, 100_000],
    description: 'Requests of all clients that wait at the same time in one worker: each of them holds a connection.',
  }),
  limit_by: string({
    required: true,
    default: 'consumer',
    one_of: ['consumer', 'credential', 'ip', 'route', 'service', 'header'],
    description:
      'Whose requests share the rate. Where there is no such thing, it is the credential (for `consumer`), and then the address.',
  }),
  header_name: headerName({ description: 'The header whose value is counted; for `header`.' }),
  ipv6_prefix: integer({
    required: true,
    default: 64,
    between: [1, 128],
    description: 'IPv6 addresses that have this many bits in common are one client.',
  }),
  error_code: integer({ required: true, default: 429, between: [400, 599], description: 'Status of a refusal.' }),
  error_message: string({ required: true, default: 'Too many requests', description: 'Message of a refusal.' }),
});

export type ThrottlingConfig = Infer<typeof config>;

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
