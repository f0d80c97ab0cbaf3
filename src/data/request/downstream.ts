import type { Exchange } from './exchange.ts';

/** Milliseconds that a connection has for its first request while the node drains: it may be in flight. */
export const firstRequestGrace = 1000;

/** A client's connection, in every protocol version. */
export interface ClientConnection {
  readonly socket: { destroy(): unknown };
  /** Closes at once when no request is in flight, else after it; a new connection may still send its first request. */
  drain(): void;
  /** Asks the client, where its protocol can, to send further requests on another connection. */
  announceEnd(): void;
  /** Called each second after `announceEnd`: a protocol that has announced its end closes when the client has read it. */
  closeAnnounced(): void;
  /** The node waits no longer: ends answers that could go on for ever, where the client can see that the end is orderly. */
  endStreams(): void;
}

/** Receives the events of client connections. */
export interface DownstreamHandler {
  /** A request head has been read. */
  request(exchange: Exchange): void;
  /** The client can take more of the answer. */
  downstreamDrained(exchange: Exchange): void;
  /** The client disconnected, or broke the framing of its body, before the answer was complete. */
  downstreamAborted(exchange: Exchange): void;
  /** The request body is longer than allowed, and the answer has not begun: the request must be refused. */
  requestBodyTooLarge(exchange: Exchange): void;
  /** The node stops: ends the answer if it could go on for ever, as `Answers.endStream` does. */
  endStream(exchange: Exchange): void;
  /** The answer is complete or aborted; the exchange is over. */
  finished(exchange: Exchange): void;
}
