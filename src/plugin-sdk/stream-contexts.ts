import type { RouteView, ServiceView } from './request-views.ts';

/** A stream whose route has been found, before anything goes to a backend. */
export interface StreamContext {
  readonly protocol: 'tcp' | 'tls' | 'tls_passthrough' | 'udp';
  readonly client: {
    /** The client's address, after `trusted_ips` and the PROXY protocol. */
    readonly ip: string;
    readonly port: number;
  };
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  /** TLS server name in lower case; '' when there is none. */
  readonly serverName: string;
  readonly route: RouteView;
  readonly service: ServiceView | null;
}

/** A stream that is over. Read only. */
export interface StreamLogContext extends StreamContext {
  /** What was measured: times in milliseconds, bytes from and to the client. */
  readonly measures: {
    readonly startedAt: number;
    readonly total: number;
    readonly gateway: number;
    readonly bytesReceived: number;
    readonly bytesSent: number;
    /** As nginx: 200, 400, 403, 500, 502, 503. */
    readonly status: number;
    readonly source: 'upstream' | 'gateway';
  };
  /** The log record in Kong's format for streams, made on the first call and shared by all plugins. */
  record(): Readonly<Record<string, unknown>>;
}
