import type { RequestBodySink } from '../dataplane/downstream.ts';
import type { Exchange } from '../dataplane/exchange.ts';
import type { ErrorEntry } from '../errors.ts';
import type { UpstreamTimeouts } from '../plugin-sdk/attempts.ts';

/**
 * The backend's side of one exchange, the same for every protocol version. What comes back is told to the
 * `ResponseListener` (http1/upstream-connection.ts).
 */
export interface UpstreamLink extends RequestBodySink {
  /** It had served an earlier request, so the backend may have closed it meanwhile. */
  readonly reused: boolean;
  /**
   * Sends the request's head: request line and header lines as HTTP/1.1 has them, ended by an empty line. `bodyLength`:
   * bytes, 0 for none, -1 when it is not known. Then the body comes through `bodyData` and `bodyEnd`. `now`: monotonic clock.
   */
  send(exchange: Exchange, head: string, bodyLength: number, timeouts: UpstreamTimeouts, now: number): void;
  /** Stops reading the answer, until `resume`. */
  pause(): void;
  resume(): void;
  /** Gives the exchange up without telling anybody. */
  destroy(): void;
}

/** Links to one address: `upstream/pool.ts` for HTTP/1.1. */
export interface UpstreamSource {
  /** A link that is there already, or null. */
  take(): UpstreamLink | null;
  /** Opens one; `timeout` (milliseconds, 0: none) covers TCP and TLS. Exactly one of the callbacks is called. */
  connect(
    timeout: number,
    connected: (link: UpstreamLink) => void,
    failed: (error: ErrorEntry, cause: string) => void,
  ): void;
  /** Takes back a link that `connect` gave and nobody needs any more. */
  giveBack(link: UpstreamLink): void;
  readonly open: number;
  readonly idle: number;
  /** Closes what is idle; what is in use ends with its exchange. */
  close(): void;
}
