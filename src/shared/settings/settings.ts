import type { HybridSettings, Role } from './hybrid-settings.ts';
import type { LogFormat } from './kinds/log-format.ts';
import type { ServerPolicy } from './kinds/tls-policy.ts';

/** One address of a listener, from Kong's listen syntax. */
export interface ListenAddress {
  /** IP without brackets. */
  readonly ip: string;
  /** 0 lets the system choose (tests). */
  readonly port: number;
  readonly ssl: boolean;
  /** Stream listeners: datagrams instead of connections. */
  readonly udp: boolean;
  readonly http2: boolean;
  readonly proxyProtocol: boolean;
  readonly reuseport: boolean;
  readonly deferred: boolean;
  readonly bind: boolean;
  /** Length of the accept queue; default 511. */
  readonly backlog: number;
  readonly ipv6only: boolean;
  /** Raw flag text, for the `listener` field of `GET /`. */
  readonly listener: string;
  /** A default that nobody chose: the node starts without it if another program uses the address. Default: false. */
  readonly optional?: boolean;
}

export type LogLevel = 'debug' | 'info' | 'notice' | 'warn' | 'error' | 'crit' | 'alert' | 'emerg';

/** Target of a log: an absolute path, '/dev/stdout', '/dev/stderr', or 'off'. */
export type LogTarget = string;

/** Name resolution: Kong's `dns_*` settings, or with `new_dns_client` its `resolver_*` ones. */
export interface DnsSettings {
  /** Empty: those of /etc/resolv.conf. */
  readonly servers: readonly { readonly ip: string; readonly port: number }[];
  readonly hostsFile: string;
  readonly order: readonly ('LAST' | 'SRV' | 'A' | 'AAAA' | 'CNAME')[];
  /** Overrides the TTL of records; null: their own. */
  readonly validTtl: number | null;
  readonly staleTtl: number;
  readonly notFoundTtl: number;
  readonly errorTtl: number;
  /** Names. */
  readonly cacheSize: number;
  readonly noSync: boolean;
}

/** Certificates and their keys, in the same order: files, PEM texts or base64 of PEM. */
export interface ListenerTls {
  readonly cert: readonly string[];
  readonly key: readonly string[];
}

/** Everything that is fixed at boot. Durations are milliseconds, sizes are bytes. */
export interface Settings {
  readonly role: Role;
  /** Null: the node is `traditional`. */
  readonly hybrid: HybridSettings | null;
  /** Where a control plane waits for data planes. */
  readonly clusterListen: readonly ListenAddress[];
  /** How long a data plane that no longer reports is known. */
  readonly dataPlanePurgeDelay: number;
  /** The directory where the node keeps its store, certificates, logs and pid. */
  readonly prefix: string;
  readonly logLevel: LogLevel;
  readonly logFormat: 'auto' | 'json' | 'text';
  readonly proxyAccessLog: LogTarget;
  /** The formats of access logs. */
  readonly accessLogFormats: {
    readonly proxy: LogFormat;
    readonly admin: LogFormat;
    readonly status: LogFormat;
    readonly stream: LogFormat;
  };
  /** The fraction of requests that are logged, and by status (600 elements) those that are always logged. */
  readonly accessLogSampling: { readonly share: number; readonly always: Uint8Array };
  readonly proxyErrorLog: LogTarget;
  /** One line for each stream. */
  readonly proxyStreamAccessLog: LogTarget;
  readonly adminAccessLog: LogTarget;
  readonly statusAccessLog: LogTarget;
  readonly adminErrorLog: LogTarget;
  readonly proxyListen: readonly ListenAddress[];
  /** Stream listeners: TCP, TLS, UDP. */
  readonly streamListen: readonly ListenAddress[];
  readonly adminListen: readonly ListenAddress[];
  readonly statusListen: readonly ListenAddress[];
  /** The dashboard. */
  readonly adminGuiListen: readonly ListenAddress[];
  /** The portal for consumers. */
  readonly portalListen: readonly ListenAddress[];
  /** `/`, or a path without a slash at its end. */
  readonly adminGuiPath: string;
  /** Token of the Admin API with all rights; null: there is none. */
  readonly adminToken: string | null;
  /** `on`: every request to the Admin API must sign in. `auto`: when there is something to sign in with. */
  readonly adminAuth: 'auto' | 'on';
  /** Certificates of the Admin API, the status API and the dashboard; empty: those of `sslCert`. Values as configured. */
  readonly adminTls: ListenerTls;
  readonly statusTls: ListenerTls;
  readonly adminGuiTls: ListenerTls;
  /** Authorities of client certificates of the Admin API, as configured; empty: no certificate is requested. */
  readonly adminClientCa: readonly string[];
  /** A client without a certificate may connect. */
  readonly adminClientOptional: boolean;
  /** Origins whose pages may use the Admin API without a token: `https://manager.example:8445`. */
  readonly adminGuiUrl: readonly string[];
  /** Host names of the Admin API, in lower case. */
  readonly adminHosts: readonly string[];
  /** `hash_keys`: API keys are stored as hashes. */
  readonly hashKeys: boolean;
  /** 0 on a control plane. */
  readonly workers: number;
  /** A data plane has `off`. */
  readonly database: 'sqlite' | 'postgres' | 'off';
  /** Where the config comes from at start and on reload, when `database` is `off`. Both null: from `POST /config` only. */
  readonly declarative: {
    /** Absolute path. */
    readonly file: string | null;
    /** The document itself. It may contain secrets. */
    readonly text: string | null;
    /** Read the file again when it changes. */
    readonly watch: boolean;
  };
  readonly pg: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string | null;
    readonly database: string;
    readonly schema: string | null;
    readonly ssl: boolean;
    readonly sslVerify: boolean;
    readonly timeout: number;
    readonly poolSize: number;
  };
  /** Milliseconds for which a node that starts with the last good config waits for the database before it is ready. */
  readonly lastGoodWait: number;
  /** IPs and CIDRs; `unix:` is accepted and never matches. */
  readonly trustedIps: readonly string[];
  /** Lower-case name of a header, or `proxy_protocol`. */
  readonly realIpHeader: string;
  readonly realIpRecursive: boolean;
  /**
   * Kong's `headers`: the lower-case names of added response headers; `server_tokens` and `latency_tokens` are
   * expanded.
   */
  readonly headers: ReadonlySet<string>;
  readonly headersUpstream: ReadonlySet<string>;
  /** External port by listening port. */
  readonly portMaps: Readonly<Record<number, number>>;
  readonly upstreamKeepalive: {
    /** Idle connections kept for each target and worker; 0 turns keep-alive off. */
    readonly poolSize: number;
    readonly maxRequests: number;
    readonly idleTimeout: number;
  };
  /** `nginx_http_keepalive_requests`: requests on one client connection. */
  readonly keepaliveRequests: number;
  /** Maximum client connections of each worker on one address. */
  readonly workerConnections: number;
  /** `nginx_http_keepalive_timeout`: how long an idle client connection is kept. */
  readonly keepaliveTimeout: number;
  /** `nginx_http_client_header_timeout`. */
  readonly clientHeaderTimeout: number;
  /** `nginx_http_client_body_timeout`: between two reads of a body. */
  readonly clientBodyTimeout: number;
  /** `nginx_http_send_timeout`: between two writes to a client. */
  readonly sendTimeout: number;
  /** `nginx_stream_preread_timeout`: for the first bytes of a TLS stream. */
  readonly streamPrereadTimeout: number;
  /** `nginx_stream_proxy_protocol_timeout`: for the PROXY header of a stream. */
  readonly streamProxyProtocolTimeout: number;
  /** `nginx_http_client_max_body_size`; 0 is unlimited. */
  readonly clientMaxBodySize: number;
  readonly adminClientMaxBodySize: number;
  /** Maximum size of a request or response head. Default 32 KiB (Kong: 4 buffers of 8 KiB). */
  readonly maxHeadSize: number;
  /** Maximum header lines in a head. */
  readonly maxHeaderCount: number;
  /** How long a graceful stop still accepts connections while the node reports that it is not ready. */
  readonly shutdownDelay: number;
  /** Whether listeners with `reuseport` may share their ports with another node. */
  readonly portSharing: boolean;
  /** How long a graceful stop waits for requests in flight. */
  readonly drainTimeout: number;
  /** How long an upgrade waits until the new process is ready. */
  readonly upgradeTimeout: number;
  /** `overload_lag`, milliseconds; `overload_heap`, percent; 0 is off. */
  readonly overloadLag: number;
  readonly overloadHeap: number;
  /** Bytes; 0 is unlimited. */
  readonly bodyMemory: number;
  readonly bodyMemoryPerClient: number;
  /** Budgets of connections that one client address has over HTTP/2; 0: unlimited. */
  readonly http2BudgetPerClient: number;
  /** Bytes per second; 0: no minimum. */
  readonly clientBodyMinRate: number;
  /** `worker_timeout`, milliseconds; 0 is off. */
  readonly workerTimeout: number;
  /** `worker_max_heap_size`, bytes; 0: derived from the available memory. */
  readonly workerMaxHeapSize: number;
  readonly allowDebugHeader: boolean;
  /** Requests with the debug token are explained. */
  readonly requestDebug: boolean;
  /** Null: not configured; a running node always has one. */
  readonly requestDebugToken: string | null;
  readonly errorDefaultType: 'text/plain' | 'text/html' | 'application/json' | 'application/xml';
  readonly plugins: readonly string[];
  /** Folder of the file that sets `plugins`, where its relative paths start; null: it is set elsewhere. */
  readonly pluginFolder: string | null;
  /** `plugins_integrity`: hashes of files by entries of `plugins`. */
  readonly pluginPins: ReadonlyMap<string, string>;
  /** `untrusted_lua`: where the functions of `pre-function` and `post-function` run. */
  readonly untrustedFunctions: 'off' | 'sandbox' | 'on';
  readonly nodeId: string | null;
  readonly dns: DnsSettings;
  /** The TLS options for clients. */
  readonly tlsPolicy: ServerPolicy;
  /** The client certificate for backends that request one; null: none. PEM. */
  readonly clientCertificate: { readonly cert: string; readonly key: string } | null;
  readonly sslCert: readonly string[];
  readonly sslCertKey: readonly string[];
  /** PEM file of the authorities trusted for upstream TLS (`lua_ssl_trusted_certificate`); null: the built-in ones. */
  readonly trustedCertificates: string | null;
  /** The audit log: whether it is on, and how long records are kept (0: for ever). */
  readonly audit: { readonly enabled: boolean; readonly retention: number };
  /** Versions of the config: how many are kept, and for how many milliseconds (0: for ever). */
  readonly configHistory: { readonly versions: number; readonly retention: number };
  /** Usage analytics: whether it is on, the maximum series of a node, and how long they are kept (milliseconds). */
  readonly analytics: {
    readonly enabled: boolean;
    readonly maxSeries: number;
    readonly retention: { readonly minute: number; readonly hour: number; readonly day: number };
  };
  /** Requests that are kept (0: the recorder is on only while somebody looks), bytes for them, and records per second and worker. */
  readonly traffic: {
    readonly records: number;
    readonly memory: number;
    readonly rate: number;
    /** Bytes of each body; 0: none. */
    readonly bodies: number;
  };
  /** The instrumentations of traces, and the fraction of requests that are traced. */
  readonly tracing: { readonly instrumentations: ReadonlySet<string>; readonly samplingRate: number };
  /**
   * Every known setting under its Kong name with its effective value, secrets as `******`: `configuration` of `GET /`.
   */
  readonly public: Readonly<Record<string, unknown>>;
}
