import { duration, integer, list, optionalString } from '../kinds.ts';
import { listen, streamListen } from '../listen.ts';
import { portMaps } from '../special-kinds.ts';
import { kong, own } from './definition.ts';

export const listeners = {
  proxy_listen: kong(
    listen,
    '0.0.0.0:8000 reuseport backlog=16384',
    'Where clients are served. Flags: `ssl`, `http2`, `proxy_protocol`, `deferred`, `bind`, `reuseport`, `backlog=N`, `ipv6only=on|off`, `so_keepalive=on|off|<idle>:<interval>:<count>`. Port 0 lets the system choose.',
  ),
  admin_listen: kong(
    listen,
    '127.0.0.1:8001',
    'Where the Admin API is served. Whoever reaches it controls the gateway: bind it to loopback, or set `admin_token`.',
  ),
  status_listen: kong(
    listen,
    '127.0.0.1:8100',
    'Where health and readiness are served, without any way to change a thing.',
  ),
  stream_listen: kong(
    streamListen,
    'off',
    'Where streams are taken, for routes of the protocols `tcp`, `tls`, `tls_passthrough` and `udp`. Flags: `udp`, `ssl` (for `tls` and `tls_passthrough`), `proxy_protocol`, `bind`, `reuseport`, `backlog=N`, `ipv6only=on|off`, `so_keepalive=on|off|<idle>:<interval>:<count>`.',
  ),
  port_maps: kong(
    portMaps,
    '',
    'External port of each listening port, where a load balancer or container runtime changes it. It shows in `X-Forwarded-Port`.',
  ),
  ssl_cert: kong(list, '', 'Certificates of the proxy listeners: files, PEM text or base64 of PEM.'),
  ssl_cert_key: kong(list, '', 'Private keys of `ssl_cert`, in the same order.', { secret: true }),
  lua_ssl_trusted_certificate: kong(
    optionalString,
    '',
    'File of the authorities (PEM) that are trusted when a backend is reached by TLS; empty or `system` is the built-in list.',
    { aliases: ['ssl_trusted_certificate'] },
  ),
  nginx_http_keepalive_requests: kong(
    integer(1, 1_000_000_000),
    '10000',
    'How many requests one client connection may carry.',
  ),
  nginx_http_keepalive_timeout: kong(
    duration('s'),
    '75s',
    'How long an idle client connection is kept open; 0 turns keep-alive off.',
  ),
  nginx_http_client_header_timeout: kong(
    duration('s'),
    '60s',
    'How long a client may take to send the head of a request.',
  ),
  nginx_http_client_body_timeout: kong(duration('s'), '60s', 'Longest pause between two reads of a request body.'),
  nginx_http_send_timeout: kong(duration('s'), '60s', 'Longest pause between two writes to a client.'),
  nginx_stream_preread_timeout: kong(
    duration('s'),
    '30s',
    'How long the client of a TLS stream may take to begin: until its ClientHello is read, and then for the handshake.',
  ),
  nginx_stream_proxy_protocol_timeout: kong(
    duration('s'),
    '30s',
    'How long the PROXY header of a stream may take. On proxy listeners it is `nginx_http_client_header_timeout`.',
  ),
  overload_lag: own(
    duration('ms'),
    '300ms',
    'How late the event loop of a worker may be for a while before the worker refuses a growing share of the requests with 503 and `Retry-After`; 0 turns this off.',
  ),
  overload_heap: own(
    integer(0, 100),
    '92',
    'Percentage of the heap that a worker may use before it refuses requests with 503 and `Retry-After`; 0 turns this off.',
  ),
  drain_timeout: own(
    duration('s'),
    '30s',
    'How long a graceful stop waits for requests in flight before it closes their connections.',
  ),
} as const;
