import type { ErrorEntry } from '../../shared/errors.ts';
import type { ParsedResponse } from '../http1/parse-response.ts';
import type { Exchange, UpstreamLink } from '../request/exchange.ts';

/** Receives the events of a link that carries an exchange. */
export interface ResponseListener {
  /** A 1xx answer; 101 comes through `responseHead`. */
  informational(exchange: Exchange, head: ParsedResponse): void;
  /** `now`: when it arrived, on the monotonic clock. */
  responseHead(exchange: Exchange, head: ParsedResponse, now?: number): void;
  /** The range is valid only during the call. */
  responseBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): void;
  responseEnd(exchange: Exchange, trailers: string): void;
  /** No more bytes are available for now. */
  responseIdle(exchange: Exchange): void;
  /** The backend can take more of the request body. */
  upstreamDrained(exchange: Exchange): void;
  /** The exchange failed on this connection, which is closed. `silent`: no byte of an answer had arrived. */
  upstreamFailed(exchange: Exchange, error: ErrorEntry, silent: boolean, reused: boolean): void;
  /** An exception while the link handled what it received. */
  unexpected(exchange: Exchange | null, error: unknown): void;
}

/** Closes the link that carries the request, if there is one. It reports nothing more. */
export function abandonLink(x: Exchange): void {
  x.upstream?.destroy();
  x.upstream = null;
}

/** Links to one address: `upstream/pool.ts` for HTTP/1.1. */
export interface UpstreamSource {
  /** An idle link, or null. */
  take(): UpstreamLink | null;
  /** Opens one; `timeout` (milliseconds, 0: none) covers TCP and TLS. Exactly one of the callbacks is called. */
  connect(
    timeout: number,
    connected: (link: UpstreamLink) => void,
    failed: (error: ErrorEntry, cause: string) => void,
  ): void;
  /** Takes back an unused link that `connect` opened. */
  giveBack(link: UpstreamLink): void;
  readonly open: number;
  readonly idle: number;
  /** Closes idle links; the others end with their exchange. */
  close(): void;
}
