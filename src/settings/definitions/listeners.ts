import { boolean, duration, integer, list, oneOf, optionalString, size } from '../kinds.ts';
import { listen, streamListen } from '../listen.ts';
import { hostList, originList, portMaps, tlsVersions } from '../special-kinds.ts';
import { kong, own } from './definition.ts';

export const listeners = {
  proxy_listen: kong(
    listen,
    '0.0.0.0:8000 reuseport backlog=16384, 0.0.0.0:8443 http2 ssl reuseport backlog=16384',
    'Where clients are served. Flags: `ssl`, `http2`, `proxy_protocol`, `deferred`, `bind`, `reuseport`, `backlog=N`, `ipv6only=on|off`, `so_keepalive=on|off|<idle>:<interval>:<count>`. Port 0 lets the system choose.',
  ),
  admin_listen: kong(
    listen,
    '127.0.0.1:8001',
    'Where the Admin API is served. Whoever reaches it controls the gateway: bind it to loopback, or set `admin_token`.',
  ),
  admin_gui_url: kong(
    originList,
    '',
    'URLs of web pages that use the Admin API, such as `https://manager.example:8445`, separated by commas. Pages of their origins may read and write. Without `admin_token` all other origins are refused, except the Admin API itself.',
  ),
  admin_hosts: own(
    hostList,
    '',
    'Host names under which the Admin API answers while `admin_token` is not set, such as `gateway.example, *.internal.example`. IP addresses, `localhost`, the host name of the machine and names without a dot are always accepted.',
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
  ssl_cert: kong(
    list,
    '',
    'Certificates of the listeners: files, PEM text or base64 of PEM; several for several types of keys. Without any, a self-signed one for `localhost` is made at the first start and kept in `<prefix>/ssl`.',
  ),
  ssl_cert_key: kong(list, '', 'Private keys of `ssl_cert`, in the same order.', { secret: true }),
  ssl_cipher_suite: kong(
    oneOf(['modern', 'intermediate', 'old', 'fips', 'custom']),
    'intermediate',
    'What TLS clients may speak: `modern` is TLS 1.3 only, `intermediate` 1.2 and 1.3 with forward secrecy, `old` everything from 1.0 on, `fips` 1.2 and 1.3 with AES-GCM, `custom` what `ssl_ciphers` and `ssl_protocols` say.',
  ),
  ssl_ciphers: kong(
    optionalString,
    '',
    "Ciphers for TLS up to 1.2, as OpenSSL names them, with `ssl_cipher_suite = custom`; empty is OpenSSL's own list.",
  ),
  ssl_protocols: kong(
    tlsVersions,
    'TLSv1.2 TLSv1.3',
    'Versions of TLS with `ssl_cipher_suite = custom`: `TLSv1`, `TLSv1.1`, `TLSv1.2`, `TLSv1.3`, without a gap.',
  ),
  ssl_prefer_server_ciphers: kong(
    boolean,
    'on',
    "Whether the gateway's order of ciphers counts before the client's, with `ssl_cipher_suite = custom`.",
  ),
  ssl_session_tickets: kong(
    boolean,
    'on',
    'Whether clients may resume their TLS sessions. Workers share the keys, which are random and change with `ssl_session_timeout`.',
  ),
  ssl_session_timeout: kong(duration('s'), '1d', 'How long a TLS session can be resumed.'),
  client_ssl: kong(
    boolean,
    'off',
    'Whether `client_ssl_cert` is shown to backends that ask for a certificate, where neither service nor upstream have their own.',
  ),
  client_ssl_cert: kong(optionalString, '', 'Certificate for `client_ssl`: a file, PEM text or base64 of PEM.'),
  client_ssl_cert_key: kong(optionalString, '', 'Private key of `client_ssl_cert`.', { secret: true }),
  lua_ssl_trusted_certificate: kong(
    optionalString,
    '',
    'File of the authorities (PEM) that are trusted when a backend is reached by TLS; empty or `system` is the built-in list.',
    { aliases: ['ssl_trusted_certificate'] },
  ),
  nginx_events_worker_connections: kong(
    integer(1, 1_000_000),
    '16384',
    'How many client connections each worker has open at most on one address; what comes beyond that is closed at once.',
    { aliases: ['nginx_worker_connections'] },
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
  body_memory: own(
    size,
    '128m',
    'Maximum memory per worker for bodies that plugins read or collect. One client address may hold at most half of it. Requests beyond the limit get 503 with `Retry-After`. 0: unlimited.',
  ),
  body_memory_per_client: own(
    size,
    '32m',
    'Maximum part of `body_memory` that one client address may hold; the addresses of an IPv6 /64 count as one. 0: half of `body_memory`.',
  ),
  client_body_min_rate: own(
    integer(0, 1_000_000_000),
    '256',
    'Minimum rate of a request body, in bytes per second. A body that stays below it for two consecutive windows of 10 seconds gets 408. gRPC calls are exempt, and so are bodies whose answer has begun. 0 turns this off.',
  ),
  worker_timeout: own(
    duration('ms'),
    '5s',
    'How long the event loop of a worker may be blocked, for example by an endless loop in a plugin, before the worker is replaced and its connections are closed. At least 1s; 0 turns this off.',
  ),
  worker_max_heap_size: own(
    size,
    '0',
    'Maximum JavaScript heap of one worker, at least 64m; a worker that exceeds it is replaced. 0: half of the memory available to the process, divided by the number of workers, at most 2 GiB.',
  ),
  shutdown_delay: own(
    duration('s'),
    '2s',
    'How long the node still accepts connections after SIGTERM or SIGQUIT. `/status/ready` answers 503 meanwhile, so that load balancers stop using the node first. 0 closes the listeners at once, and so does SIGINT.',
  ),
  port_sharing: own(
    boolean,
    'off',
    'Whether the node may start on ports that another node on this machine still serves, for a restart without downtime. It applies to listeners with the flag `reuseport`. When off, the start fails with `address already in use`.',
  ),
  drain_timeout: own(
    duration('s'),
    '30s',
    'How long a graceful stop waits for requests in flight before it closes their connections.',
  ),
} as const;
