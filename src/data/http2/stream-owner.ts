import type { DownstreamHost } from '../request/downstream-host.ts';
import type { Downstream, DownstreamPeer } from '../request/exchange.ts';

/** The session of a stream. */
export interface StreamOwner {
  readonly peer: DownstreamPeer;
  readonly host: DownstreamHost;
  /** A piece of an answer was sent. */
  carried(): void;
  /** The stream is closed. */
  streamClosed(stream: Downstream): void;
  /** The stream was aborted before its answer was complete. `code`: why. */
  streamAborted(code: number): void;
}
