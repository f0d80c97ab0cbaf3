import { boolean, duration, integer, oneOf, size } from '../kinds/kinds.ts';
import { addressList, headerName, headerNames } from '../kinds/special-kinds.ts';
import { kong, own } from './definition.ts';

export const proxy = {
  headers: kong(
    headerNames([
      'server_tokens',
      'latency_tokens',
      'Server',
      'Via',
      'X-Kong-Proxy-Latency',
      'X-Kong-Upstream-Latency',
      'X-Kong-Response-Latency',
      'X-Kong-Admin-Latency',
      'X-Kong-Upstream-Status',
      'X-Kong-Request-Id',
      'Server-Timing',
    ]),
    'server_tokens, latency_tokens, X-Kong-Request-Id',
    'Headers that the gateway adds to responses. `Server-Timing` contains the time of the gateway and of the backend.',
  ),
  headers_upstream: kong(
    headerNames(['X-Kong-Request-Id']),
    'X-Kong-Request-Id',
    'Headers that the gateway adds to requests to backends.',
  ),
  trusted_ips: kong(
    addressList,
    '',
    'Peers whose `X-Forwarded-*` and `real_ip_header` are trusted. `0.0.0.0/0, ::/0` trusts everyone: use it only behind a load balancer.',
  ),
  real_ip_header: kong(headerName, 'X-Real-IP', 'Header in which a trusted peer sends the address of the client.'),
  real_ip_recursive: kong(
    boolean,
    'off',
    'Use the last address in `real_ip_header` that is not trusted, instead of the last address.',
  ),
  upstream_keepalive_pool_size: kong(
    integer(0, 1_000_000),
    '512',
    'Maximum number of idle connections for each target and worker. 0 turns keep-alive to backends off.',
  ),
  upstream_keepalive_max_requests: kong(
    integer(0, 1_000_000_000),
    '10000',
    'Maximum number of requests on one connection to a backend. 0: unlimited.',
  ),
  upstream_keepalive_idle_timeout: kong(
    duration('s'),
    '60',
    'How long an idle connection to a backend stays open. 0: unlimited.',
  ),
  nginx_http_client_max_body_size: kong(size, '0', 'Maximum size of a request body that is proxied. 0: unlimited.', {
    aliases: ['client_max_body_size'],
  }),
  nginx_http_client_body_buffer_size: kong(
    size,
    '8k',
    'Accepted for compatibility. Bodies stream; only plugins buffer bodies, within limits of their own.',
    { aliases: ['client_body_buffer_size'] },
  ),
  nginx_admin_client_max_body_size: kong(size, '10m', 'Maximum size of a request body of the Admin API. 0: unlimited.'),
  max_head_size: own(
    size,
    '32k',
    'Maximum size of the head of a request or response: first line and all header lines.',
  ),
  max_header_count: own(integer(1, 10_000), '200', 'Maximum number of header lines in one head.'),
  allow_debug_header: kong(
    boolean,
    'off',
    'Add the names of the matched route and service to responses to requests with `Kong-Debug: 1`.',
  ),
  error_default_type: kong(
    oneOf(['text/plain', 'text/html', 'application/json', 'application/xml']),
    'text/plain',
    "Media type of error responses if the client's `Accept` names none.",
  ),
} as const;
