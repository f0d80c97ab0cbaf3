import { parseRate } from '../../plugin-sdk/index.ts';
import {
  boolean,
  type EntityCheck,
  headerName,
  type Infer,
  integer,
  number,
  path,
  rate,
  record,
  redisChecks,
  redisServer,
  redisShorthands,
  string,
  windowFields,
  windowOrderProblem,
} from '../../plugin-sdk/schema.ts';
import { parseSize } from './zone-size.ts';

const who = ['consumer', 'credential', 'ip', 'service', 'header', 'path'] as const;

export const config = record(
  {
    ...windowFields('Requests'),
    limit_by: string({
      default: 'consumer',
      one_of: who,
      description:
        'Who is counted. Where there is no such thing, it is the credential (for `consumer`), and then the address.',
    }),
    header_name: headerName({ description: 'The header whose value is counted; for `header`.' }),
    path: path({ description: 'The path that is counted; for `path`.' }),
    policy: string({
      default: 'local',
      len_min: 0,
      one_of: ['local', 'cluster', 'redis'],
      description: 'Where it is counted: on each node, in the relational store, or in Redis.',
    }),
    fault_tolerant: boolean({
      required: true,
      default: true,
      description: 'While the counters cannot be reached: true lets requests pass, false answers them with 500.',
    }),
    redis: redisServer(),
    hide_client_headers: boolean({
      required: true,
      default: false,
      description: 'Keeps the headers with limits and what is left of them from clients.',
    }),
    error_code: number({ default: 429, gt: 0, description: 'Status of a refusal.' }),
    error_message: string({ default: 'API rate limit exceeded', description: 'Message of a refusal.' }),
    sync_rate: number({
      required: true,
      default: -1,
      unit: 's',
      description: 'How often counters are exchanged with Redis; -1: with every request.',
    }),
    window_type: string({
      required: true,
      default: 'fixed',
      one_of: ['fixed', 'sliding'],
      description:
        '`fixed`: periods of the calendar, in UTC. `sliding`: the part of the period before that is still in sight counts too.',
    }),
    rate: rate({
      description: 'Requests of one client, evenly spread: `10r/s`, `300r/m`.',
    }),
    rate_by: string({ required: true, default: 'ip', one_of: who, description: 'Who has the rate; as `limit_by`.' }),
    burst: integer({
      required: true,
      default: 0,
      between: [0, 1_000_000],
      description: 'Requests beyond the rate that are let through. They wait for their turn unless `nodelay` is set.',
    }),
    nodelay: boolean({ required: true, default: false, description: 'Requests of the burst do not wait.' }),
    zone: string({
      match: /^[A-Za-z0-9_.-]{1,64}$/,
      description:
        'Name of the zone. Instances that name the same zone and size count together. Default: one of its own.',
    }),
    zone_size: string({
      required: true,
      default: '10m',
      custom: (text: string) => (parseSize(text) === null ? 'must be a size from 32k to 1g such as 512k or 10m' : null),
      description:
        'Memory of the zone: 15,000 clients for each megabyte. When it is full, those idle longest are forgotten.',
    }),
    ipv6_prefix: integer({
      required: true,
      default: 64,
      between: [1, 128],
      description: 'IPv6 addresses that have this many bits in common are one client.',
    }),
    dry_run: boolean({
      required: true,
      default: false,
      description: 'Refuses and delays nothing, but tells in log and metrics what it would have done.',
    }),
  },
  { shorthands: redisShorthands() },
);

export type RateLimitingConfig = Infer<typeof config>;

const limits = ['second', 'minute', 'hour', 'day', 'month', 'year', 'rate'].map((name) => `config.${name}`);

function needs(value: string, field: string): EntityCheck {
  return {
    conditional: {
      if_field: 'config.limit_by',
      if_match: { eq: value },
      then_field: field,
      then_match: { required: true },
    },
  };
}

export const checks: readonly EntityCheck[] = [
  { at_least_one_of: limits },
  ...redisChecks,
  needs('header', 'config.header_name'),
  needs('path', 'config.path'),
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: given }) => configProblem(given as RateLimitingConfig),
    },
  },
];

/** Seconds that a request of a burst may have to wait. */
const longestWait = 3600;

function configProblem(given: RateLimitingConfig): string | Readonly<Record<string, string>> | null {
  const order = windowOrderProblem(given);
  if (order !== null) return { config: order };
  const { policy, sync_rate: rate } = given;
  if (rate !== -1 && policy !== 'redis') return 'sync_rate can only be used with the redis policy';
  if (rate !== -1 && !(rate >= 0.02)) return 'sync_rate must be greater than 0.02, or -1 to disable';
  const perSecond = given.rate === null || given.nodelay ? null : parseRate(given.rate);
  if (perSecond !== null && given.burst / perSecond > longestWait) {
    return { 'config.burst': `the last of them would wait for more than ${longestWait} seconds` };
  }
  if (given.rate_by === 'header' && given.header_name === null)
    return { 'config.header_name': 'required field missing' };
  if (given.rate_by === 'path' && given.path === null) return { 'config.path': 'required field missing' };
  return null;
}
