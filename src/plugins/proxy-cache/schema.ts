import {
  array,
  boolean,
  type EntityCheck,
  headerName,
  type Infer,
  integer,
  number,
  record,
  redisServer,
  seconds,
  string,
} from '../../plugin-sdk/schema.ts';
import { parseSize } from './sizes.ts';

function size(least: string, most: string) {
  const [low, high] = [parseSize(least) ?? 0, parseSize(most) ?? 0];
  return (text: string): string | null => {
    const bytes = parseSize(text);
    return bytes === null || bytes < low || bytes > high
      ? `must be a size from ${least} to ${most} such as 512k or 64m`
      : null;
  };
}

export const config = record({
  response_code: array(integer({ between: [100, 900], description: 'A status.' }), {
    required: true,
    default: [200, 301, 404],
    len_min: 1,
    description: 'Statuses of answers that are kept. 206 and 304 never are.',
  }),
  request_method: array(string({ one_of: ['HEAD', 'GET', 'POST', 'PATCH', 'PUT'], description: 'A method.' }), {
    required: true,
    default: ['GET', 'HEAD'],
    description:
      'Methods of requests that are answered from the cache. `HEAD` is answered from what a `GET` left; the body of the others is part of the key.',
  }),
  content_type: array(string({ description: 'A media type.' }), {
    required: true,
    default: ['text/plain', 'application/json'],
    description:
      'Types of answers that are kept. Parameters have to be the same: `application/json` is not `application/json; charset=utf-8`. `*` stands for any type, subtype, or both, with any parameters: `text/*`, `*/*`.',
  }),
  cache_ttl: seconds({
    default: 300,
    gt: 0,
    description:
      'How long an answer is fresh; where `cache_control` is on, the answer itself decides. Also as a text: `5m`, `2h`.',
  }),
  strategy: string({
    required: true,
    one_of: ['memory', 'redis'],
    description: 'Where answers are kept: in memory that the workers of a node share, or in Redis, for all nodes.',
  }),
  cache_control: boolean({
    required: true,
    default: false,
    description: 'Heeds `Cache-Control`, `Expires` and `Age` of requests and answers (RFC 9111).',
  }),
  ignore_uri_case: boolean({ default: false, description: 'Paths and queries are the same in upper and lower case.' }),
  storage_ttl: seconds({
    gt: 0,
    description:
      'How long an answer is kept, fresh or not. Default: as long as it is fresh or may be used stale; with an `ETag` or a `Last-Modified` as long again, to be validated.',
  }),
  memory: record(
    {
      dictionary_name: string({
        required: true,
        default: 'kong_db_cache',
        match: /^[A-Za-z0-9_.-]{1,64}$/,
        description: 'Name of the memory. Instances that name the same one, with the same size, share it.',
      }),
      size: string({
        required: true,
        default: '64m',
        custom: size('256k', '2g'),
        description: 'Size of the memory. When it is full, answers that were not asked for lately go.',
      }),
    },
    { required: true, description: 'Of the strategy `memory`.' },
  ),
  vary_query_params: array(string({ description: 'Name of a query argument.' }), {
    description: 'Only these arguments of the query are part of the key. Default: all of them.',
  }),
  vary_headers: array(headerName({ description: 'Name of a header of requests.' }), {
    description:
      'Headers of requests whose values are part of the key. What `Vary` of an answer names always is, and `Accept-Encoding` of those with a `Content-Encoding`.',
  }),
  response_headers: record(
    {
      age: boolean({ default: true, description: '`Age`, of answers from the cache.' }),
      'X-Cache-Status': boolean({ default: true, description: '`Miss`, `Hit`, `Refresh` or `Bypass`.' }),
      'X-Cache-Key': boolean({ default: true, description: 'The key, for the Admin API.' }),
    },
    { required: true, description: 'Headers that tell clients about the cache.' },
  ),
  redis: redisServer(),
  coalescing: boolean({
    required: true,
    default: true,
    description:
      'Of requests for the same thing that is not there, one goes to the backend, and the others wait for it.',
  }),
  coalescing_wait: number({
    required: true,
    default: 5,
    between: [0.01, 300],
    unit: 's',
    description: 'A request that has waited so long goes to the backend itself.',
  }),
  stale_while_revalidate: seconds({
    required: true,
    default: 0,
    between: [0, 2_592_000],
    description: 'How long a stale answer is still used, while it is fetched again. An answer can say so itself.',
  }),
  stale_if_error: seconds({
    required: true,
    default: 0,
    between: [0, 2_592_000],
    description:
      'How long a stale answer is still used when the backend fails or answers 500, 502, 503 or 504. An answer can say so itself.',
  }),
  max_body: string({
    required: true,
    default: '1m',
    custom: size('1k', '16m'),
    description:
      'Answers with larger bodies are not kept. Request bodies, where they are part of the key, have this limit, too.',
  }),
  tag_headers: array(headerName({ description: 'Name of a header of answers.' }), {
    required: true,
    default: ['Surrogate-Key', 'Cache-Tag'],
    description: 'Headers of answers that name their tags, apart by spaces or commas, by which they can be removed.',
  }),
  pass_tags: boolean({ required: true, default: false, description: 'Clients see those headers.' }),
  set_cookie: string({
    required: true,
    default: 'bypass',
    one_of: ['bypass', 'strip', 'store'],
    description:
      'Answers that set cookies: `bypass` does not keep them, `strip` keeps them without the cookies, `store` gives the same cookies to everybody.',
  }),
  ignore_no_store: boolean({
    required: true,
    default: false,
    description: 'Without `cache_control`: answers that say `no-store` are kept all the same.',
  }),
});

export type ProxyCacheConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  ...['host', 'port', 'timeout'].map(
    (name): EntityCheck => ({
      conditional: {
        if_field: 'config.strategy',
        if_match: { eq: 'redis' },
        then_field: `config.redis.${name}`,
        then_match: { required: true },
      },
    }),
  ),
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: given }) => configProblem(given as ProxyCacheConfig),
    },
  },
];

function configProblem(given: ProxyCacheConfig): Readonly<Record<string, string>> | null {
  const body = parseSize(given.max_body) ?? 0;
  const memory = parseSize(given.memory.size) ?? 0;
  if (given.strategy === 'memory' && body * 4 > memory) {
    return { 'config.max_body': 'must be at most a quarter of config.memory.size' };
  }
  return null;
}
