import { boolean, duration, integer, oneOf, size } from '../kinds.ts';
import { addressList, headerName, headerNames } from '../special-kinds.ts';
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
    'Headers that the gateway adds to answers. `Server-Timing` tells how long the gateway and the backend took.',
  ),
  headers_upstream: kong(
    headerNames(['X-Kong-Request-Id']),
    'X-Kong-Request-Id',
    'Headers that the gateway adds to requests on their way to the backend.',
  ),
  trusted_ips: kong(
    addressList,
    '',
    'Peers whose `X-Forwarded-*` and `real_ip_header` are believed. `0.0.0.0/0, ::/0` believes everyone, so only behind a load balancer.',
  ),
  real_ip_header: kong(headerName, 'X-Real-IP', 'The header in which a trusted peer names the client.'),
  real_ip_recursive: kong(
    boolean,
    'off',
    'Walk `real_ip_header` from its end and take the last address that is not trusted, instead of the last one.',
  ),
  upstream_keepalive_pool_size: kong(
    integer(0, 1_000_000),
    '512',
    'Idle connections kept for each target and worker; 0 turns keep-alive to backends off.',
  ),
  upstream_keepalive_max_requests: kong(
    integer(0, 1_000_000_000),
    '10000',
    'Requests on one connection to a backend before it is closed; 0 is without end.',
  ),
  upstream_keepalive_idle_timeout: kong(
    duration('s'),
    '60',
    'How long an idle connection to a backend is kept; 0 is without end.',
  ),
  nginx_http_client_max_body_size: kong(size, '0', 'Longest request body that is proxied; 0 is unlimited.', {
    aliases: ['client_max_body_size'],
  }),
  nginx_http_client_body_buffer_size: kong(
    size,
    '8k',
    'Accepted for compatibility: bodies are streamed, and only what a plugin asked for is buffered, within its own cap.',
    { aliases: ['client_body_buffer_size'] },
  ),
  nginx_admin_client_max_body_size: kong(size, '10m', 'Longest request body of the Admin API; 0 is unlimited.'),
  max_head_size: own(size, '32k', 'Longest head of a request or an answer: request line and all header lines.'),
  max_header_count: own(integer(1, 10_000), '200', 'Most header lines in one head.'),
  allow_debug_header: kong(
    boolean,
    'off',
    'Answer a request that carries `Kong-Debug: 1` with the names of the route and service that it matched.',
  ),
  error_default_type: kong(
    oneOf(['text/plain', 'text/html', 'application/json', 'application/xml']),
    'text/plain',
    'Form of error answers when the client does not ask for one.',
  ),
} as const;
