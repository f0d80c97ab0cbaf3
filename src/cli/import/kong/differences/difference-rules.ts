import { isFields, type KongEntity } from '../kong-entity.ts';
import type { DifferenceName } from './difference-rows.ts';
import {
  activeCheck,
  algorithm,
  configOf,
  hasLuaFields,
  hasTemplate,
  hasTopLevelAlternative,
  headerValues,
  is,
  isPlugin,
  limitBy,
  listOf,
  protocolsOf,
  regexPaths,
  textsOf,
} from './entity-facts.ts';

/** Whether an imported entity behaves differently because of a row. */
type Rule = (entity: KongEntity) => boolean;

const never: Rule = () => false;

/**
 * Rows of docs/differences.md with a condition. A row without a rule applies to every instance of a plugin that its section or the
 * beginning of its topic names, and to nothing else.
 */
export const differenceRules: Readonly<Partial<Record<DifferenceName, Rule>>> = {
  // Routing
  'Routing: a path `~/x|/b`': (entity) => regexPaths(entity).some((path) => hasTopLevelAlternative(path)),
  "Routing: `~*` in a route's `headers`": (entity) => headerValues(entity).some((value) => value.startsWith('~*')),
  'Routing: regular expressions of routes': (entity) =>
    regexPaths(entity).length > 0 || headerValues(entity).some((value) => value.startsWith('~*')),
  'Bodies, timeouts and upgrades: `request_buffering`, `response_buffering`': (entity) =>
    is(entity, 'routes') &&
    protocolsOf(entity).some((one) => one === 'http' || one === 'https') &&
    !(entity.fields['request_buffering'] === false && entity.fields['response_buffering'] === false),
  'HTTP/2, WebSocket and gRPC: `tls_verify`, `ca_certificates`, `client_certificate` of a service': (entity) =>
    is(entity, 'services') && entity.fields['protocol'] === 'grpcs' && entity.fields['tls_verify'] === true,
  'HTTP/2, WebSocket and gRPC: `grpc-timeout` of a gRPC call': (entity) =>
    is(entity, 'services') && ['grpc', 'grpcs'].includes(String(entity.fields['protocol'])),
  'HTTP/2, WebSocket and gRPC: a gRPC answer that ends without trailers': (entity) =>
    is(entity, 'services') && ['grpc', 'grpcs'].includes(String(entity.fields['protocol'])),

  // Streams and TLS
  'Streams and the PROXY protocol: a plain stream and a route whose protocols are TLS only': (entity) =>
    is(entity, 'routes') && protocolsOf(entity).every((one) => one === 'tls' || one === 'tls_passthrough'),
  'Streams and the PROXY protocol: a stream route with `snis` only, and a stream without a server name': (entity) =>
    is(entity, 'routes') &&
    protocolsOf(entity).some((one) => one === 'tcp' || one === 'tls') &&
    listOf(entity, 'snis').length > 0 &&
    listOf(entity, 'sources').length + listOf(entity, 'destinations').length === 0,
  'Streams and the PROXY protocol: `destinations` with an address, on a UDP listener of all addresses': (entity) =>
    is(entity, 'routes') &&
    protocolsOf(entity).includes('udp') &&
    listOf(entity, 'destinations').some((one) => isFields(one) && one['ip'] != null),
  'TLS: tickets while routes have `snis` or a plugin requests client certificates': (entity) =>
    (is(entity, 'routes') && listOf(entity, 'snis').length > 0) || isPlugin(entity, 'mtls-auth'),

  // Balancing
  'Load balancing and health checks: scope of round-robin': (entity) => algorithm(entity) === 'round-robin',
  'Load balancing and health checks: order of round-robin': (entity) => algorithm(entity) === 'round-robin',
  'Load balancing and health checks: consistent-hashing, an address that failed in this request': (entity) =>
    algorithm(entity) === 'consistent-hashing',
  'Load balancing and health checks: `hash_on_header` with a hyphen': (entity) =>
    is(entity, 'upstreams') &&
    ['hash_on_header', 'hash_fallback_header'].some((name) => String(entity.fields[name] ?? '').includes('-')),
  'Load balancing and health checks: an empty header, cookie or argument to hash on': (entity) =>
    is(entity, 'upstreams') && ['header', 'cookie', 'query_arg'].includes(String(entity.fields['hash_on'])),
  'Load balancing and health checks: `latency`, requests with a body': (entity) => algorithm(entity) === 'latency',
  'Load balancing and health checks: active checks of type `tcp`': (entity) => activeCheck(entity, 'type') === 'tcp',
  "Load balancing and health checks: a probe's `timeout` of 0": (entity) => activeCheck(entity, 'timeout') === 0,
  'Name resolution: records with a TTL of 0': never,

  // All plugins
  'All plugins: a reference to a vault (`{vault://env/...}`) in a configuration': (entity) =>
    is(entity, 'plugins') && JSON.stringify(entity.fields['config'] ?? null).includes('"{vault://'),
  'All plugins: limits counted in Redis or in the store': (entity) =>
    ['cluster', 'redis'].includes(String(configOf(entity)['policy'])),
  'All plugins: policy `cluster` while the store is unavailable, `fault_tolerant` on': (entity) =>
    configOf(entity)['policy'] === 'cluster' && configOf(entity)['fault_tolerant'] === true,

  // Plugins, by their configuration
  'acme: storage': (entity) => isPlugin(entity, 'acme') && configOf(entity)['storage'] !== 'kong',
  'acme: `account_key`, IP addresses as hosts': (entity) =>
    isPlugin(entity, 'acme') && configOf(entity)['account_key'] != null,
  'acme: challenge type': never,
  'basic-auth: how a password is stored': (entity) => is(entity, 'basicauth_credentials'),
  'basic-auth: a hash as `password`': (entity) => is(entity, 'basicauth_credentials'),
  'cors: a regular expression with alternatives, as in `https://a[.]test|https://b[.]test`': (entity) =>
    isPlugin(entity, 'cors') &&
    textsOf(configOf(entity)['origins']).some((origin) => origin !== '*' && origin.includes('|')),
  'hmac-auth: a body over 8 MiB with `validate_request_body`': (entity) =>
    isPlugin(entity, 'hmac-auth') && configOf(entity)['validate_request_body'] === true,
  'jwt: a key that does not fit the algorithm of its credential': never,
  'key-auth: `hide_credentials`': (entity) =>
    isPlugin(entity, 'key-auth') && configOf(entity)['hide_credentials'] === true,
  'key-auth: fields of a credential': (entity) => is(entity, 'keyauth_credentials'),
  'key-auth: `key_in_body` and a body over 1 MiB': (entity) =>
    isPlugin(entity, 'key-auth') && configOf(entity)['key_in_body'] === true,
  'key-auth: `hide_credentials` and an ambiguous body (malformed JSON, more than 1000 fields); the same for oauth2': (
    entity,
  ) => isPlugin(entity, 'key-auth', 'oauth2') && configOf(entity)['hide_credentials'] === true,
  'key-auth: a name that occurs twice in a JSON body': (entity) =>
    isPlugin(entity, 'key-auth') && configOf(entity)['key_in_body'] === true,
  'oauth2: a secret with `hash_secret`': (entity) =>
    is(entity, 'oauth2_credentials') && entity.fields['hash_secret'] === true,
  'oauth2: client credentials of a public client': (entity) =>
    is(entity, 'oauth2_credentials') && entity.fields['client_type'] === 'public',
  'proxy-cache: `Authorization`, `Set-Cookie`, `no-store` and `private` without `cache_control`': (entity) =>
    isPlugin(entity, 'proxy-cache') && configOf(entity)['cache_control'] !== true,
  'rate-limiting: by address: IPv6': (entity) =>
    isPlugin(entity, 'rate-limiting') && ['ip', 'consumer', 'credential'].includes(limitBy(entity)),
  "rate-limiting: by header: a value that is another client's address": (entity) =>
    isPlugin(entity, 'rate-limiting') && limitBy(entity) === 'header',
  'redirect: `keep_incoming_path` and a path that begins with slashes': (entity) =>
    isPlugin(entity, 'redirect') && configOf(entity)['keep_incoming_path'] === true,
  'redirect: a `status_code` below 200; the same for request-termination': (entity) =>
    isPlugin(entity, 'redirect', 'request-termination') && Number(configOf(entity)['status_code'] ?? 503) < 200,
  'request-termination: `echo` of a body over 1 MiB': (entity) =>
    isPlugin(entity, 'request-termination') && configOf(entity)['echo'] === true,
  'request-transformer and response-transformer: templates': (entity) => hasTemplate(entity),
  'request-transformer and response-transformer: a template in a header that cannot be parsed': never,
  'request-transformer and response-transformer: request-transformer: `headers` in templates': (entity) =>
    hasTemplate(entity) && JSON.stringify(configOf(entity)).includes('$(headers'),
  'request-transformer and response-transformer: request-transformer: values in `replace.uri`': (entity) => {
    const { replace } = configOf(entity);
    return isPlugin(entity, 'request-transformer') && isFields(replace) && typeof replace['uri'] === 'string';
  },
  'request-transformer and response-transformer: request-transformer: `http_method` `CONNECT`, `TRACE`': never,
  'request-validator: unknown keywords in schemas': never,
  'request-validator: Lua patterns and functions in the format `kong`': never,
  'response-ratelimiting: a name of a limit that cannot be part of a header name': never,
  'session: `secret` when it is not given': never,
  'session: after a logout, with `storage: cookie`': (entity) =>
    isPlugin(entity, 'session') && configOf(entity)['storage'] !== 'kong',
  'session: rows with `storage: kong`': (entity) =>
    isPlugin(entity, 'session') && configOf(entity)['storage'] === 'kong',

  // Logs
  'Secrets: values that `custom_fields_by_lua` reads from the request': (entity) => hasLuaFields(entity),
  'Log records: `custom_fields_by_lua`': (entity) => hasLuaFields(entity),
  'Log records: `custom_fields_by_lua`: something joined to `nil`': (entity) =>
    hasLuaFields(entity) && JSON.stringify(configOf(entity)['custom_fields_by_lua']).includes('..'),
  'Log records: `custom_fields_by_lua` of one log plugin': (entity) => hasLuaFields(entity),
  'Queues and receivers: `queue.max_bytes` when it is not set': (entity) =>
    isFields(configOf(entity)['queue']) && (configOf(entity)['queue'] as KongEntity['fields'])['max_bytes'] == null,
  'Queues and receivers: `queue.concurrency_limit` -1': (entity) =>
    isFields(configOf(entity)['queue']) &&
    (configOf(entity)['queue'] as KongEntity['fields'])['concurrency_limit'] === -1,
  'Queues and receivers: http-log: `headers` that frame a message (`Transfer-Encoding`, `Connection`, ...), control characters in values':
    never,
  'Queues and receivers: tcp-log, udp-log, syslog: port 0': never,
  'Log files and formats: file-log: `reopen`': (entity) => isPlugin(entity, 'file-log'),
  'Log files and formats: file-log: paths with `..`, control characters, or a slash at the end': never,

  // Metrics and traces
  'Metrics: prometheus: `GET /metrics` without an instance': never,
  'Metrics: prometheus: `ai_metrics`': (entity) =>
    isPlugin(entity, 'prometheus') && configOf(entity)['ai_metrics'] === true,
  'Metrics: prometheus: the label `kong_version` of data planes': never,
  'Metrics: statsd: `allow_status_codes` with an empty range (`300-200`)': never,
  'Metrics: statsd: `status_count_per_workspace`': (entity) =>
    isPlugin(entity, 'statsd') && JSON.stringify(configOf(entity)).includes('status_count_per_workspace'),
  'Traces: opentelemetry: `logs_endpoint`': (entity) =>
    isPlugin(entity, 'opentelemetry') && configOf(entity)['logs_endpoint'] != null,
  'Traces: zipkin: `tags_header`': (entity) => isPlugin(entity, 'zipkin') && configOf(entity)['tags_header'] != null,
};
