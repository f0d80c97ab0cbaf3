import { redisChecksFor, redisServer, seconds } from '../../plugin-kit/fields/index.ts';
import {
  array,
  boolean,
  type EntityCheck,
  headerName,
  type Infer,
  integer,
  number,
  record,
  string,
} from '../../plugin-sdk/schema.ts';
import { parseSize } from './rules/policy.ts';

function size(min: string, max: string) {
  const [low, high] = [parseSize(min) ?? 0, parseSize(max) ?? 0];
  return (text: string): string | null => {
    const bytes = parseSize(text);
    return bytes === null || bytes < low || bytes > high
      ? `must be a size from ${min} to ${max} such as 512k or 64m`
      : null;
  };
}

export const config = record({
  response_code: array(integer({ between: [100, 900], description: 'A status.' }), {
    required: true,
    default: [200, 301, 404],
    len_min: 1,
    description: 'Statuses of responses that are cached. 206 and 304 never are.',
  }),
  request_method: array(string({ one_of: ['HEAD', 'GET', 'POST', 'PATCH', 'PUT'], description: 'A method.' }), {
    required: true,
    default: ['GET', 'HEAD'],
    description:
      'Methods of requests that are answered from the cache. `HEAD` uses the cached response to `GET`. For other methods the request body is part of the key.',
  }),
  content_type: array(string({ description: 'A media type.' }), {
    required: true,
    default: ['text/plain', 'application/json'],
    description:
      'Media types of responses that are cached. Parameters must be equal: `application/json` does not match `application/json; charset=utf-8`. `*` matches any type or subtype, with any parameters: `text/*`, `*/*`.',
  }),
  cache_ttl: seconds({
    default: 300,
    gt: 0,
    description:
      'How long a response is fresh. With `cache_control` the response itself decides. Also accepts `5m` or `2h`.',
  }),
  strategy: string({
    required: true,
    one_of: ['memory', 'redis'],
    description: 'Where responses are stored: in memory that the workers of a node share, or in Redis, for all nodes.',
  }),
  cache_control: boolean({
    required: true,
    default: false,
    description: 'Applies `Cache-Control`, `Expires` and `Age` of requests and responses (RFC 9111).',
  }),
  ignore_uri_case: boolean({ default: false, description: 'Ignores upper and lower case in paths and queries.' }),
  storage_ttl: seconds({
    gt: 0,
    description:
      'How long a response is stored, fresh or not. Default: as long as it is fresh or may be used stale; with an `ETag` or `Last-Modified` for its fresh time again, so that it can be validated.',
  }),
  memory: record(
    {
      dictionary_name: string({
        required: true,
        default: 'kong_db_cache',
        match: /^[A-Za-z0-9_.-]{1,64}$/,
        description: 'Name of the memory. Instances with the same name and size share it.',
      }),
      size: string({
        required: true,
        default: '64m',
        custom: size('256k', '2g'),
        description: 'Size of the memory. When it is full, responses that were not requested recently are evicted.',
      }),
    },
    { required: true, description: 'Settings of the strategy `memory`.' },
  ),
  vary_query_params: array(string({ description: 'Name of a query argument.' }), {
    description: 'Only these query arguments are part of the key. Default: all.',
  }),
  vary_headers: array(headerName({ description: 'Name of a request header.' }), {
    description:
      'Request headers that are part of the key. Those that the response names in `Vary` always are, and `Accept-Encoding` if the response has a `Content-Encoding`.',
  }),
  response_headers: record(
    {
      age: boolean({ default: true, description: 'Sends `Age` in responses from the cache.' }),
      'X-Cache-Status': boolean({
        default: true,
        description: 'Sends `X-Cache-Status`: `Miss`, `Hit`, `Refresh` or `Bypass`.',
      }),
      'X-Cache-Key': boolean({ default: true, description: 'Sends `X-Cache-Key`: the key for the Admin API.' }),
    },
    { required: true, description: 'Headers that the cache adds to responses.' },
  ),
  redis: redisServer(),
  coalescing: boolean({
    required: true,
    default: true,
    description:
      'Of several requests for the same response that is not cached, one goes to the backend and the others wait for it.',
  }),
  coalescing_wait: number({
    required: true,
    default: 5,
    between: [0.01, 300],
    unit: 's',
    description: 'How long a request waits for another one before it goes to the backend itself.',
  }),
  stale_while_revalidate: seconds({
    required: true,
    default: 0,
    between: [0, 2_592_000],
    description:
      'How long a stale response is served while it is fetched again. A response can override this in `Cache-Control`.',
  }),
  stale_if_error: seconds({
    required: true,
    default: 0,
    between: [0, 2_592_000],
    description:
      'How long a stale response is served when the backend fails or answers 500, 502, 503 or 504. A response can override this in `Cache-Control`.',
  }),
  max_body: string({
    required: true,
    default: '1m',
    custom: size('1k', '16m'),
    description:
      'Responses with larger bodies are not cached. The limit also applies to request bodies that are part of the key.',
  }),
  tag_headers: array(headerName({ description: 'Name of a response header.' }), {
    required: true,
    default: ['Surrogate-Key', 'Cache-Tag'],
    description: 'Response headers that contain tags, separated by spaces or commas. Responses can be purged by tag.',
  }),
  pass_tags: boolean({ required: true, default: false, description: 'Sends the tag headers to clients.' }),
  set_cookie: string({
    required: true,
    default: 'bypass',
    one_of: ['bypass', 'strip', 'store'],
    description:
      'Responses that set cookies: `bypass` does not cache them, `strip` caches them without the cookies, `store` sends the same cookies to all clients.',
  }),
  ignore_no_store: boolean({
    required: true,
    default: false,
    description: 'Caches responses with `no-store`. Only without `cache_control`.',
  }),
});

export type ProxyCacheConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  ...redisChecksFor('config.strategy'),
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: candidate }) => configProblem(candidate as ProxyCacheConfig),
    },
  },
];

function configProblem({ strategy, max_body, memory }: ProxyCacheConfig): Readonly<Record<string, string>> | null {
  const bodyBytes = parseSize(max_body) ?? 0;
  const memoryBytes = parseSize(memory.size) ?? 0;
  if (strategy === 'memory' && bodyBytes * 4 > memoryBytes) {
    return { 'config.max_body': 'must be at most a quarter of config.memory.size' };
  }
  return null;
}
