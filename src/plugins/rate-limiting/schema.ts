import {
  rate,
  redisChecks,
  redisServer,
  redisShorthands,
  windowFields,
  windowOrderProblem,
} from '../../plugin-kit/fields/index.ts';
import { parseRate } from '../../plugin-kit/limits/index.ts';
import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { boolean, headerName, integer, number, path, record, string } from '../../plugin-sdk/schema.ts';
import { parseSize } from './zone-size.ts';

const who = ['consumer', 'credential', 'ip', 'service', 'header', 'path'] as const;

export const config = record(
  {
    ...windowFields('Requests'),
    limit_by: string({
      default: 'consumer',
      one_of: who,
      description:
        'What identifies a client. If a request has no such value, its credential counts (for `consumer`), and then its address.',
    }),
    header_name: headerName({ description: 'Header whose values are counted, for `limit_by` or `rate_by` `header`.' }),
    path: path({ description: 'Path whose requests are counted together, for `limit_by` or `rate_by` `path`.' }),
    policy: string({
      default: 'local',
      len_min: 0,
      one_of: ['local', 'cluster', 'redis'],
      shared_store_values: ['cluster'],
      description: "Where counters are kept: on each node, in the gateway's store, or in Redis.",
    }),
    fault_tolerant: boolean({
      required: true,
      default: true,
      description: 'While the counters are unavailable: true lets requests pass, false answers them with 500.',
    }),
    redis: redisServer(),
    hide_client_headers: boolean({
      required: true,
      default: false,
      description: 'Does not send the headers with limits and remaining requests.',
    }),
    error_code: number({ default: 429, gt: 0, description: 'Status code of a rejection.' }),
    error_message: string({ default: 'API rate limit exceeded', description: 'Message of a rejection.' }),
    sync_rate: number({
      required: true,
      default: -1,
      unit: 's',
      description: 'How often counters are exchanged with Redis. -1: with every request.',
    }),
    window_type: string({
      required: true,
      default: 'fixed',
      one_of: ['fixed', 'sliding'],
      description:
        '`fixed`: calendar periods in UTC. `sliding`: the part of the previous period that is still within the window counts too.',
    }),
    rate: rate({
      description: 'Requests of one client, evenly spaced: `10r/s`, `300r/m`.',
    }),
    rate_by: string({
      required: true,
      default: 'ip',
      one_of: who,
      description: 'What identifies a client for `rate`; see `limit_by`.',
    }),
    burst: integer({
      required: true,
      default: 0,
      between: [0, 1_000_000],
      description:
        'Maximum number of requests over the rate that are accepted. They are delayed until their slot, unless `nodelay` is set.',
    }),
    nodelay: boolean({ required: true, default: false, description: 'Requests of the burst are not delayed.' }),
    zone: string({
      match: /^[A-Za-z0-9_.-]{1,64}$/,
      description:
        'Name of the zone. Instances with the same zone and size count together. Default: a zone of its own.',
    }),
    zone_size: string({
      required: true,
      default: '10m',
      custom: (text: string) => (parseSize(text) === null ? 'must be a size from 32k to 1g such as 512k or 10m' : null),
      description:
        'Memory of the zone: 15,000 clients per megabyte. When it is full, the least recently used entries are evicted.',
    }),
    ipv6_prefix: integer({
      required: true,
      default: 64,
      between: [1, 128],
      description: 'Length of the IPv6 prefix that counts as one client.',
    }),
    dry_run: boolean({
      required: true,
      default: false,
      description: 'Rejects and delays nothing; logs and metrics report what would have been done.',
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
const maxWait = 3600;

function configProblem(given: RateLimitingConfig): string | Readonly<Record<string, string>> | null {
  const order = windowOrderProblem(given);
  if (order !== null) return { config: order };
  const { policy, sync_rate: rate } = given;
  if (rate !== -1 && policy !== 'redis') return 'sync_rate can only be used with the redis policy';
  if (rate !== -1 && !(rate >= 0.02)) return 'sync_rate must be greater than 0.02, or -1 to disable';
  const perSecond = given.rate === null || given.nodelay ? null : parseRate(given.rate);
  if (perSecond !== null && given.burst / perSecond > maxWait) {
    return { 'config.burst': `the last of them would wait for more than ${maxWait} seconds` };
  }
  if (given.rate_by === 'header' && given.header_name === null)
    return { 'config.header_name': 'required field missing' };
  if (given.rate_by === 'path' && given.path === null) return { 'config.path': 'required field missing' };
  return null;
}
