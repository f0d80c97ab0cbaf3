import type { RouteView, ServiceView } from './request-views.ts';

/**
 * A stream (TCP, TLS or UDP) whose route matched, before a backend is contacted.
 *
 * @example
 * accept({ client }: StreamContext) {
 *   return !blocked.has(client.ip);
 * }
 */
export interface StreamContext {
  readonly protocol: 'tcp' | 'tls' | 'tls_passthrough' | 'udp';
  readonly client: {
    /** Address of the client, after `trusted_ips` and the PROXY protocol. */
    readonly ip: string;
    readonly port: number;
  };
  /** Address of the gateway that the client connected to. */
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  /** TLS server name in lower case; '' if there is none. */
  readonly serverName: string;
  readonly route: RouteView;
  readonly service: ServiceView | null;
}

/**
 * A stream that ended. Read only.
 *
 * @example
 * streamLog({ measures }: StreamLogContext) {
 *   tools.count('bytes_sent', measures.bytesSent);
 * }
 */
export interface StreamLogContext extends StreamContext {
  readonly measures: {
    /** Milliseconds since the epoch. */
    readonly startedAt: number;
    /** Milliseconds from the start to the end. */
    readonly total: number;
    /** Milliseconds until a backend was contacted. */
    readonly gateway: number;
    /** From the client. */
    readonly bytesReceived: number;
    /** To the client. */
    readonly bytesSent: number;
    /** As nginx logs it: 200, 400, 403, 500, 502 or 503. */
    readonly status: number;
    /** `gateway`: no backend was connected. */
    readonly source: 'upstream' | 'gateway';
  };
  /** The log record in Kong's format for streams. Made on the first call and shared by all plugins of the stream. */
  record(): Readonly<Record<string, unknown>>;
}
