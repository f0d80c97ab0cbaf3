import { boolean, duration, integer, list, oneOf, optionalString, size } from '../kinds/kinds.ts';
import { listen, streamListen } from '../kinds/listen.ts';
import { hostList, originList, portMaps, tlsVersions, urlPath } from '../kinds/special-kinds.ts';
import { kong, own } from './definition.ts';

export const listeners = {
  proxy_listen: kong(
    listen,
    '0.0.0.0:8000 reuseport backlog=16384, 0.0.0.0:8443 http2 ssl reuseport backlog=16384',
    'Listeners for clients. Flags: `ssl`, `http2`, `proxy_protocol`, `deferred`, `bind`, `reuseport`, `backlog=N`, `ipv6only=on|off`, `so_keepalive=on|off|<idle>:<interval>:<count>`. Port 0 lets the system choose.',
  ),
  admin_listen: kong(
    listen,
    '127.0.0.1:8001',
    'Listeners of the Admin API. Anyone who reaches it controls the gateway: bind it to loopback, or create admin users (docs/admin-users.md).',
  ),
  admin_gui_url: kong(
    originList,
    '',
    'URLs of web pages that use the Admin API, such as `https://manager.example:8445`, separated by commas. Pages of their origins may read and write. Requests of other origins need a token, except those of the Admin API itself.',
  ),
  admin_gui_listen: kong(
    listen,
    '127.0.0.1:8002',
    'Listeners of the dashboard. They also serve the Admin API, below `/api/`, so `off` where `admin_listen` is `off`. If the setting is unset and the port is in use, the node starts without them. Flags as in `admin_listen`.',
  ),
  admin_gui_path: kong(
    urlPath,
    '/',
    'Path of the dashboard on its listeners, such as `/manager`, if a proxy in front of it serves other paths too.',
  ),
  admin_gui_ssl_cert: kong(
    list,
    '',
    'Certificates of the listeners in `admin_gui_listen`: files, PEM text or base64 of PEM. Default: those of `ssl_cert`.',
  ),
  admin_gui_ssl_cert_key: kong(list, '', 'Private keys of `admin_gui_ssl_cert`, in the same order.', { secret: true }),
  portal_listen: own(
    listen,
    'off',
    'Listeners of the portal for consumers (docs/portal.md). They serve the portal below `/portal/` and nothing of the Admin API. With the flag `ssl` their certificate is that of `ssl_cert`. Other flags as in `admin_listen`.',
  ),
  admin_hosts: own(
    hostList,
    '',
    'Host names under which the Admin API answers requests without a token, such as `gateway.example, *.internal.example`. IP addresses, `localhost`, the host name of the machine and names without a dot are always accepted.',
  ),
  admin_ssl_cert: kong(
    list,
    '',
    'Certificates of the listeners in `admin_listen`: files, PEM text or base64 of PEM; one for each type of key. Default: those of `ssl_cert`.',
  ),
  admin_ssl_cert_key: kong(list, '', 'Private keys of `admin_ssl_cert`, in the same order.', { secret: true }),
  admin_ssl_client_ca: own(
    list,
    '',
    'Authorities that sign certificates of clients of the Admin API: files, PEM text or base64 of PEM. If set, listeners with `ssl` request a certificate.',
    { aliases: ['nginx_admin_ssl_client_certificate'] },
  ),
  admin_ssl_verify_client: own(
    oneOf(['on', 'optional', 'off']),
    'on',
    'With `admin_ssl_client_ca`. `on`: a client without a valid certificate cannot connect. `optional`: it may sign in with a token instead, but an invalid certificate is refused. `off`: no certificate is requested.',
    { aliases: ['nginx_admin_ssl_verify_client'] },
  ),
  status_ssl_cert: kong(list, '', 'Certificates of the listeners in `status_listen`. Default: those of `ssl_cert`.'),
  status_ssl_cert_key: kong(list, '', 'Private keys of `status_ssl_cert`, in the same order.', { secret: true }),
  status_listen: kong(
    listen,
    '127.0.0.1:8100',
    'Listeners of the status API: health, readiness and metrics, read-only.',
  ),
  stream_listen: kong(
    streamListen,
    'off',
    'Listeners for streams, for routes with the protocols `tcp`, `tls`, `tls_passthrough` and `udp`. Flags: `udp`, `ssl` (for `tls` and `tls_passthrough`), `proxy_protocol`, `bind`, `reuseport`, `backlog=N`, `ipv6only=on|off`, `so_keepalive=on|off|<idle>:<interval>:<count>`.',
  ),
  port_maps: kong(
    portMaps,
    '',
    'External port of each listening port, if a load balancer or container runtime maps ports. It is sent in `X-Forwarded-Port`.',
  ),
  ssl_cert: kong(
    list,
    '',
    'Certificates of the listeners: files, PEM text or base64 of PEM; one for each type of key. Without any, a self-signed one for `localhost` is generated at the first start and kept in `<prefix>/ssl`.',
  ),
  ssl_cert_key: kong(list, '', 'Private keys of `ssl_cert`, in the same order.', { secret: true }),
  ssl_cipher_suite: kong(
    oneOf(['modern', 'intermediate', 'old', 'fips', 'custom']),
    'intermediate',
    'TLS versions and ciphers for clients: `modern` is TLS 1.3 only, `intermediate` 1.2 and 1.3 with forward secrecy, `old` 1.0 to 1.3, `fips` 1.2 and 1.3 with AES-GCM, `custom` follows `ssl_ciphers` and `ssl_protocols`.',
  ),
  ssl_ciphers: kong(
    optionalString,
    '',
    "Ciphers for TLS up to 1.2, by OpenSSL's names, with `ssl_cipher_suite = custom`. Empty: OpenSSL's default list.",
  ),
  ssl_protocols: kong(
    tlsVersions,
    'TLSv1.2 TLSv1.3',
    'TLS versions with `ssl_cipher_suite = custom`: `TLSv1`, `TLSv1.1`, `TLSv1.2`, `TLSv1.3`, without gaps.',
  ),
  ssl_prefer_server_ciphers: kong(
    boolean,
    'on',
    "Prefer the gateway's order of ciphers to the client's, with `ssl_cipher_suite = custom`.",
  ),
  ssl_session_tickets: kong(
    boolean,
    'on',
    'Let clients resume their TLS sessions. Workers share the ticket keys, which are random and change every `ssl_session_timeout`.',
  ),
  ssl_session_timeout: kong(duration('s'), '1d', 'How long clients can resume a TLS session.'),
  client_ssl: kong(
    boolean,
    'off',
    'Send `client_ssl_cert` to backends that request a certificate, if neither service nor upstream has its own.',
  ),
  client_ssl_cert: kong(optionalString, '', 'Certificate for `client_ssl`: a file, PEM text or base64 of PEM.'),
  client_ssl_cert_key: kong(optionalString, '', 'Private key of `client_ssl_cert`.', { secret: true }),
  lua_ssl_trusted_certificate: kong(
    optionalString,
    '',
    'File of trusted authorities (PEM) for TLS to backends. Empty or `system`: the built-in list.',
    { aliases: ['ssl_trusted_certificate'] },
  ),
  nginx_events_worker_connections: kong(
    integer(1, 1_000_000),
    '16384',
    'Maximum number of open client connections for each worker and address. Further connections are closed at once.',
    { aliases: ['nginx_worker_connections'] },
  ),
  nginx_http_keepalive_requests: kong(
    integer(1, 1_000_000_000),
    '10000',
    'Maximum number of requests on one client connection.',
  ),
  nginx_http_keepalive_timeout: kong(
    duration('s'),
    '75s',
    'How long an idle client connection stays open. 0 turns keep-alive off.',
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
    'How long the client of a TLS stream may take to send its ClientHello, and then to complete the handshake.',
  ),
  nginx_stream_proxy_protocol_timeout: kong(
    duration('s'),
    '30s',
    'How long the PROXY header of a stream may take. Proxy listeners use `nginx_http_client_header_timeout`.',
  ),
  overload_lag: own(
    duration('ms'),
    '300ms',
    "Delay of a worker's event loop by its own work above which the worker refuses a growing fraction of the requests with 503 and `Retry-After`. Time in which other programs had the CPU does not count. 0 turns this off.",
  ),
  overload_heap: own(
    integer(0, 100),
    '92',
    'Percentage of the heap above which a worker refuses requests with 503 and `Retry-After`. 0 turns this off.',
  ),
  body_memory: own(
    size,
    '128m',
    'Maximum memory per worker for bodies that plugins read or collect. One client address may hold at most half of it. Requests beyond the limit get 503 with `Retry-After`. 0: unlimited.',
  ),
  body_memory_per_client: own(
    size,
    '32m',
    'Maximum part of `body_memory` for one client address. The addresses of an IPv6 /64 count as one. 0: half of `body_memory`.',
  ),
  http2_budget_per_client: own(
    integer(0, 100_000),
    '10',
    'What one client address may cost a worker over HTTP/2 beyond ordinary requests, in budgets of a connection; a tenth of it comes back each second. The addresses of an IPv6 /64 count as one, and `trusted_ips` are exempt. 0: unlimited.',
  ),
  client_body_min_rate: own(
    integer(0, 1_000_000_000),
    '256',
    'Minimum rate of a request body, in bytes per second. A body that stays below it for two consecutive windows of 10 seconds gets 408. gRPC calls are exempt, and so are bodies whose answer has begun. 0 turns this off.',
  ),
  worker_timeout: own(
    duration('ms'),
    '5s',
    'How long the event loop of a worker may be blocked, for example by an endless loop in a plugin, before the worker is replaced and its connections are closed. At least 1s. 0 turns this off.',
  ),
  worker_max_heap_size: own(
    size,
    '0',
    'Maximum JavaScript heap of one worker, at least 64m. A worker that exceeds it is replaced. 0: half of the memory available to the process, divided by the number of workers, at most 2 GiB.',
  ),
  shutdown_delay: own(
    duration('s'),
    '2s',
    'How long the node accepts connections after SIGTERM or SIGQUIT. Meanwhile `/status/ready` answers 503, so that load balancers stop using the node first. 0 closes the listeners at once, and so does SIGINT.',
  ),
  port_sharing: own(
    boolean,
    'off',
    'Let the node start on ports that another node on this machine still serves, for a restart without downtime. It applies to listeners with the flag `reuseport`. If off, the start fails with `address already in use`.',
  ),
  drain_timeout: own(
    duration('s'),
    '30s',
    'How long a graceful stop waits for requests in flight before it closes their connections. In the last second it ends WebSockets (close code 1001), event streams and gRPC streams (status `UNAVAILABLE`) that are still open, so that their clients connect again.',
  ),
  upgrade_timeout: own(
    duration('s'),
    '60s',
    'How long `sluicegate upgrade` waits until the new process is ready. After that the new process is ended, and the old one continues.',
  ),
} as const;
