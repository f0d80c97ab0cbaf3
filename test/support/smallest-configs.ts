import { randomUUID } from 'node:crypto';

type Fields = Readonly<Record<string, unknown>>;

const document = {
  openapi: '3.1.0',
  info: { title: 'a', version: '1' },
  paths: { '/a': { get: { responses: { 200: { description: 'fine' } } } } },
};

/** Configurations of the bundled plugins that cannot be configured with `{}`. */
export const smallestConfigs: Readonly<Record<string, Fields>> = {
  acl: { allow: ['staff'] },
  acme: { account_email: 'a@example.com', tos_accepted: true, api_uri: 'https://acme.example/directory' },
  aggregate: { requests: [{ name: 'user', service: 'users', path: '/' }] },
  'api-versioning': { versions: [{ name: 'v1' }, { name: 'v2', path_prefix: '/two' }] },
  'auth-any': { methods: ['jwt', 'key-auth'] },
  authorization: { rules: [{ name: 'staff', groups: ['staff'] }] },
  'body-validator': { schema: '{"type":"object"}' },
  'concurrency-limiting': { limit: 5 },
  'data-masking': { rules: [{ name: 'mail', kinds: ['email'] }] },
  'file-log': { path: '/tmp/log-of-nothing' },
  'http-log': { http_endpoint: 'http://127.0.0.1:9/' },
  'ip-restriction': { deny: ['192.0.2.1'] },
  'ldap-auth': { ldap_host: '127.0.0.1', base_dn: 'dc=example', attribute: 'uid' },
  'mtls-auth': { ca_certificates: [randomUUID()] },
  oauth2: { enable_client_credentials: true },
  'oauth2-introspection': { introspection_url: 'https://127.0.0.1:9/', authorization_value: 'Basic YTpi' },
  openapi: { document: JSON.stringify(document) },
  'openid-connect': { issuer: 'https://127.0.0.1:9/' },
  opentelemetry: { traces_endpoint: 'http://127.0.0.1:9/' },
  pagination: { backend: { style: 'page', items: '$.items' } },
  'post-function': { log: ['() => {}'] },
  'pre-function': { access: ['() => {}'] },
  'proxy-cache': { strategy: 'memory' },
  quotas: { month: 100 },
  'rate-limiting': { minute: 5 },
  redirect: { location: 'https://example.com/' },
  'request-mirror': { url: 'http://127.0.0.1:9/' },
  'request-validator': { body_schema: '[{"name":{"type":"string"}}]' },
  'response-ratelimiting': { limits: { video: { minute: 5 } } },
  'tcp-log': { host: '127.0.0.1', port: 9 },
  throttling: { rate: '5r/s' },
  timeouts: { total: 2000 },
  'traffic-split': {
    backends: [
      { name: 'canary', weight: 5, service: 'a' },
      { name: 'stable', weight: 95 },
    ],
  },
  'xml-json': { backend: 'xml' },
  'udp-log': { host: '127.0.0.1', port: 9 },
};
