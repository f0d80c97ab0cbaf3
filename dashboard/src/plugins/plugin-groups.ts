/** The bundled plugins by what they are for, in the order of docs/features.md; the others are plugins of the user. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Routing and proxying': ['grpc-web', 'acme'],
  'Load balancing and resilience': ['circuit-breaker', 'retries', 'timeouts', 'traffic-split', 'request-mirror'],
  'Who may call': [
    ...['key-auth', 'basic-auth', 'jwt', 'oauth2', 'oauth2-introspection', 'openid-connect', 'hmac-auth', 'ldap-auth'],
    ...['mtls-auth', 'session', 'auth-any', 'acl', 'authorization', 'ip-restriction', 'bot-detection', 'cors'],
    'response-headers',
  ],
  Limits: [
    ...['rate-limiting', 'response-ratelimiting', 'quotas', 'concurrency-limiting', 'throttling'],
    'request-size-limiting',
  ],
  'Requests and responses': [
    ...['aggregate', 'api-versioning', 'pagination', 'request-transformer', 'response-transformer'],
    ...['redirect', 'request-termination', 'correlation-id', 'xml-json', 'compression', 'data-masking'],
    ...['body-validator', 'request-validator', 'openapi', 'proxy-cache', 'pre-function', 'post-function'],
  ],
  Observability: [
    ...['file-log', 'http-log', 'tcp-log', 'udp-log', 'syslog', 'prometheus', 'statsd', 'datadog', 'opentelemetry'],
    'zipkin',
  ],
};

export const ownGroup = 'Your own';
export const groupNames: readonly string[] = [...Object.keys(groups), ownGroup];

export function groupOf(plugin: string): string {
  return Object.keys(groups).find((name) => groups[name]?.includes(plugin) === true) ?? ownGroup;
}
