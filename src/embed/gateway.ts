import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Plugin } from '../plugin-sdk/define-plugin.ts';
import type { GatewayConfigSource } from '../shared/gateway-config/gateway-config.ts';
import type { LogReceiver } from '../shared/logs/log-receiver.ts';

export interface CreateGatewayOptions {
  /** The first config; `apply` replaces it. Default: an empty one. */
  readonly config?: GatewayConfigSource;
  /**
   * Plugins in addition to the bundled ones: objects that `definePlugin` has made, paths (`./plugins/my-policy.ts`) or npm packages. A path
   * or package registers module hooks in this process, so that its imports of `sluicegate` lead to this copy. Default: none.
   */
  readonly plugins?: readonly (Plugin | string)[];
  /**
   * Settings of the gateway by their names in `sluicegate.conf`, such as `{ log_level: 'warn', trusted_ips: '10.0.0.0/8' }`. Neither a
   * configuration file nor `KONG_*` variables are read. Default: those of docs/settings.md, with the differences in docs/embedding.md.
   */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  /** Where relative paths of plugins and settings start: a directory, or `import.meta.url`. Default: the current directory. */
  readonly from?: string | URL;
  /** Receives the lines of the error log. Default: they are written to stderr, as the gateway does. */
  readonly log?: LogReceiver;
  /** An Admin API, read-only but for `POST /config`. Default: none. */
  readonly admin?: AdminOptions;
  /** A directory for what the gateway keeps between starts, such as ACME certificates. Default: none, and no file is written. */
  readonly prefix?: string;
}

export interface AdminOptions {
  /** As the setting `admin_listen`: `127.0.0.1:8001`. Anyone who reaches it controls the gateway. */
  readonly listen: string;
}

export interface ListenOptions {
  /** 0: a free one. */
  readonly port: number;
  /** An IP address. Default: `127.0.0.1`. */
  readonly host?: string;
  /** PEM texts or files. Default: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** HTTP/2, too: over TLS by ALPN, without TLS by prior knowledge. Default: with TLS. */
  readonly http2?: boolean;
  /** Connections begin with a PROXY header; only addresses in `trusted_ips` are believed. Default: false. */
  readonly proxyProtocol?: boolean;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Handles requests that a server of `node:http` has received, and upgrades to WebSocket. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** For the event `upgrade` of that server. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Uint8Array) => void;
}

/** What a `Request` does not say about its client. */
export interface FetchClient {
  /** IP address. Default: `127.0.0.1`. */
  readonly address?: string | undefined;
  /** Default: 0. */
  readonly port?: number | undefined;
}

/** A gateway in this process and this thread. */
export interface Gateway {
  /** Opens a socket of the gateway's own: the fastest way. Can be called several times. Rejects with one line when that fails. */
  listen(options: ListenOptions): Promise<ListenAddress>;
  /** `http.createServer(gateway.handler)`: the client's address is that of its connection. */
  readonly handler: NodeHandler;
  /** For servers with web-standard requests, such as Hono. Bodies stream both ways. Rejects when the request's signal is aborted. */
  fetch(request: Request, client?: FetchClient): Promise<Response>;
  /**
   * Replaces the whole config; resolves when requests are routed by it. Requests in flight are not affected. Rejects with a
   * `GatewayConfigError` when something in it is invalid; then nothing has changed.
   */
  apply(config: GatewayConfigSource): Promise<void>;
  /** The addresses of the Admin API; empty without one. */
  readonly admin: readonly ListenAddress[];
  /**
   * Accepts no more connections, waits `timeout` milliseconds for requests in flight, ends the rest, and frees everything. Default: the
   * setting `drain_timeout`. Later calls wait for the first one; with a timeout of 0 they cut it short.
   */
  close(options?: { readonly timeout?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
