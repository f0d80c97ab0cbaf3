import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import type { TestLogLine } from '../test-host.ts';
import type { BackendHandler, ReceivedRequest } from './backend/contract.ts';
import type { GatewayRequest, RunningRequest, TestAnswer } from './client/contract.ts';
import type { TestConfig } from './config/contract.ts';

export interface TestGatewayOptions {
  /** Plugins in addition to the bundled ones, or in place of one of these. Default: none. */
  readonly plugins?: readonly Plugin[];
  /**
   * The config, in Kong's declarative form. Default: `simpleConfig` with an instance of each of `plugins`: one route for all paths, one
   * service `backend.test`, and the plugins' defaults.
   */
  readonly config?: TestConfig;
  /**
   * `manual` (default): the time of the gateway and its plugins stands still until `clock.advance`. `real`: it is that of the process. With
   * `{ start }` it stands still and begins at this instant.
   */
  readonly clock?: 'manual' | 'real' | { readonly start: Date | number };
  /** Settings by their names, as in a settings file: `{ nginx_http_client_max_body_size: '64k' }`. Default: those of a gateway. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Answers the messages of plugins to their background parts, by the name of the plugin. Default: null. */
  readonly background?: Readonly<Record<string, (message: unknown) => unknown>>;
  /** Answers requests that reach a backend; `gateway.backend` has more. Default: 200 with what was received, as JSON. */
  readonly onRequest?: BackendHandler;
}

/** The time of a test gateway. */
export interface TestClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Moves the time on and fires the timers that are due, in their order. Resolves when everything that follows has happened. With the real
   * clock it waits.
   */
  advance(milliseconds: number): Promise<void>;
  /** Moves the time on from timer to timer, as far as needed, until the promise is settled. With the real clock it waits for it. */
  until<T>(promise: Promise<T>): Promise<T>;
  /** Resolves when nothing more happens without the time moving on. */
  settle(): Promise<void>;
}

/** The backends of a test gateway: every host name and address that the config names. */
export interface TestBackends {
  /** Answers the requests for which no other handler was set. */
  onRequest: BackendHandler;
  /** Answers the requests to a host of the config: `orders.test`, or `orders.test:8080` for one port of it. */
  on(host: string, handler: BackendHandler): void;
  /**
   * What connecting to a host does: `accept` (default), `refuse`, or `ignore`, so that the connect timeout ends it. An open connection is
   * not affected.
   */
  connecting(host: string, how: 'accept' | 'refuse' | 'ignore'): void;
  /** What arrived, the oldest first. At most 10,000 are kept. */
  readonly requests: readonly ReceivedRequest[];
  /** Forgets what arrived. */
  clear(): void;
  /** Closes the connections that wait for a request, as a backend does that restarts. */
  closeIdle(): void;
  /** Connections that are open. */
  readonly connections: number;
}

/** A gateway in this thread, without a socket. */
export interface TestGateway extends AsyncDisposable {
  readonly backend: TestBackends;
  readonly clock: TestClock;
  /** What the gateway and its plugins wrote to the error log. */
  readonly logLines: readonly TestLogLine[];
  /** The log record of each finished request, in Kong's form. At most 10,000 are kept. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** What plugins counted (`tools.count`), by `<plugin>.<name>`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Sends a request and collects the answer. Rejects if none arrives, but not for any status. */
  request(request?: GatewayRequest | string): Promise<TestAnswer>;
  /** Sends a request that the test can continue, watch and abort. */
  start(request?: GatewayRequest | string): RunningRequest;
  /** A connection of a client, for bytes of your own. `clientIp` defaults to 127.0.0.1. */
  connect(options?: { readonly clientIp?: string }): RawConnection;
  /** Applies another config, in place of the whole one. Requests in flight keep the config with which they began. */
  apply(config: TestConfig): Promise<void>;
  /** What `metrics.ts` of a plugin returns now; empty if it has none. */
  metrics(plugin: string): Promise<readonly MetricFamily[]>;
  /** Numbers of the gateway, such as `requests` and `connectionsActive`. */
  numbers(): Readonly<Record<string, number>>;
  /** Forgets log lines, records and what the backends received. */
  clear(): void;
  /** Closes connections, disposes of the plugin instances, and leaves nothing open. */
  close(): Promise<void>;
}

/** A client's end of a connection. */
export interface RawConnection {
  /** What has arrived, as latin1. */
  readonly text: string;
  /** Whether the gateway has closed or reset it; null: it is open. */
  readonly ended: 'closed' | 'reset' | null;
  write(bytes: string | Uint8Array): void;
  /** Resolves when what has arrived contains the text. Rejects when the connection ends first, or after 10 real seconds. */
  until(text: string): Promise<string>;
  /** Resolves when the gateway has closed it, with all that arrived. */
  closed(): Promise<string>;
  /** Stops and continues reading, as a slow client does. */
  pause(): void;
  resume(): void;
  /** Ends this side. */
  end(): void;
  /** Closes it with a reset. */
  reset(): void;
}
