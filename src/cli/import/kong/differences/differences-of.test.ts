import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fields, KongEntity } from '../kong-entity.ts';
import type { DifferenceName } from './difference-rows.ts';
import { differencesOf } from './differences-of.ts';

const of = (collection: string, fields: Fields): KongEntity => ({ collection, fields, label: 'the entity' });
const plugin = (name: string, config: Fields = {}): KongEntity => of('plugins', { name, config });
const route = (fields: Fields): KongEntity => of('routes', { protocols: ['http'], ...fields });
const stream = (fields: Fields): KongEntity => of('routes', fields);

/** The name of a row, an entity that it is about, and one that it is not about. */
const cases: readonly (readonly [DifferenceName, KongEntity, KongEntity])[] = [
  ['Routing: a path `~/x|/b`', route({ paths: ['~/x|/b'] }), route({ paths: ['~/(?:x|y)[|]\\|'] })],
  ["Routing: `~*` in a route's `headers`", route({ headers: { a: ['~*b'] } }), route({ headers: { a: ['b'] } })],
  ['Routing: regular expressions of routes', route({ paths: ['~/a'] }), route({ paths: ['/a'] })],
  [
    'Bodies, timeouts and upgrades: `request_buffering`, `response_buffering`',
    route({}),
    route({ request_buffering: false, response_buffering: false }),
  ],
  [
    'HTTP/2, WebSocket and gRPC: `tls_verify`, `ca_certificates`, `client_certificate` of a service',
    of('services', { protocol: 'grpcs', tls_verify: true }),
    of('services', { protocol: 'https', tls_verify: true }),
  ],
  [
    'HTTP/2, WebSocket and gRPC: `grpc-timeout` of a gRPC call',
    of('services', { protocol: 'grpc' }),
    of('services', { protocol: 'http' }),
  ],
  [
    'Streams and the PROXY protocol: a plain stream and a route whose protocols are TLS only',
    stream({ protocols: ['tls'] }),
    stream({ protocols: ['tcp'] }),
  ],
  [
    'Streams and the PROXY protocol: a stream route with `snis` only, and a stream without a server name',
    stream({ protocols: ['tls'], snis: ['a'] }),
    stream({ protocols: ['tls'], snis: ['a'], sources: [{ port: 1 }] }),
  ],
  [
    'Streams and the PROXY protocol: `destinations` with an address, on a UDP listener of all addresses',
    stream({ protocols: ['udp'], destinations: [{ ip: '10.0.0.1' }] }),
    stream({ protocols: ['udp'], destinations: [{ port: 53 }] }),
  ],
  [
    'Load balancing and health checks: scope of round-robin',
    of('upstreams', {}),
    of('upstreams', { algorithm: 'latency' }),
  ],
  [
    'Load balancing and health checks: `hash_on_header` with a hyphen',
    of('upstreams', { hash_on_header: 'x-a' }),
    of('upstreams', { hash_on_header: 'tenant' }),
  ],
  [
    'Load balancing and health checks: active checks of type `tcp`',
    of('upstreams', { healthchecks: { active: { type: 'tcp' } } }),
    of('upstreams', { healthchecks: { active: { type: 'http' } } }),
  ],
  [
    'All plugins: a reference to a vault (`{vault://env/...}`) in a configuration',
    plugin('session', { secret: '{vault://env/secret}' }),
    plugin('session', { secret: 'of the session' }),
  ],
  [
    'All plugins: limits counted in Redis or in the store',
    plugin('a', { policy: 'redis' }),
    plugin('a', { policy: 'local' }),
  ],
  [
    'All plugins: policy `cluster` while the store is unavailable, `fault_tolerant` on',
    plugin('a', { policy: 'cluster', fault_tolerant: true }),
    plugin('a', { policy: 'cluster', fault_tolerant: false }),
  ],
  ['acme: storage', plugin('acme', { storage: 'redis' }), plugin('acme', { storage: 'kong' })],
  ['acme: certificates', plugin('acme'), plugin('acl')],
  ['basic-auth: how a password is stored', of('basicauth_credentials', {}), of('keyauth_credentials', {})],
  ['basic-auth: duration of a wrong login', plugin('basic-auth'), plugin('key-auth')],
  [
    'cors: a regular expression with alternatives, as in `https://a[.]test|https://b[.]test`',
    plugin('cors', { origins: ['a|b'] }),
    plugin('cors', { origins: ['*'] }),
  ],
  ['key-auth: `hide_credentials`', plugin('key-auth', { hide_credentials: true }), plugin('key-auth')],
  [
    'key-auth: `hide_credentials` and an ambiguous body (malformed JSON, more than 1000 fields); the same for oauth2',
    plugin('oauth2', { hide_credentials: true }),
    plugin('basic-auth', { hide_credentials: true }),
  ],
  [
    'oauth2-introspection and openid-connect: openid-connect: `auth_methods`',
    plugin('openid-connect'),
    plugin('oauth2-introspection'),
  ],
  [
    'rate-limiting: by address: IPv6',
    plugin('rate-limiting', { limit_by: 'ip' }),
    plugin('rate-limiting', { limit_by: 'path' }),
  ],
  [
    'request-transformer and response-transformer: templates',
    plugin('request-transformer', { add: { headers: ["a:$(headers['b'])"] } }),
    plugin('request-transformer', { add: { headers: ['a:b'] } }),
  ],
  [
    'request-transformer and response-transformer: malformed JSON',
    plugin('response-transformer'),
    plugin('response-ratelimiting'),
  ],
  [
    'Log records: `custom_fields_by_lua`',
    plugin('file-log', { custom_fields_by_lua: { a: 'return nil' } }),
    plugin('file-log', { custom_fields_by_lua: {} }),
  ],
  [
    'Queues and receivers: `queue.max_bytes` when it is not set',
    plugin('http-log', { queue: { max_bytes: null } }),
    plugin('http-log', { queue: { max_bytes: 1 } }),
  ],
  ['Queues and receivers: tcp-log: certificates of the receiver', plugin('tcp-log'), plugin('udp-log')],
  ['Metrics: statsd, datadog: lines of a request', plugin('datadog'), plugin('prometheus')],
  ['Traces: zipkin: `tags_header`', plugin('zipkin', { tags_header: 'a' }), plugin('zipkin')],
];

for (const [name, touched, untouched] of cases) {
  test(`${name.slice(0, 90)}: is reported for what it is about, and for nothing else`, () => {
    assert.deepEqual(reported(touched).get(name), ['the entity']);
    assert.equal(reported(untouched).has(name), false);
  });
}

test('what no entity touches is not reported: rows of settings, of the Admin API, of other plugins', () => {
  assert.equal(differencesOf([]).length, 0);
  const sections = new Set([...reported(plugin('correlation-id')).keys()].map((name) => name.split(': ')[0]));
  assert.deepEqual([...sections], []);
});

function reported(entity: KongEntity): ReadonlyMap<string, readonly string[]> {
  return new Map(differencesOf([entity]).map(({ section, topic, entities }) => [`${section}: ${topic}`, entities]));
}
