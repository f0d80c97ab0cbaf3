import type { Socket } from 'node:net';
import type { BodySink } from '../http1/chunk-decoder.ts';
import type { Exchange } from './exchange.ts';

/** Where a request body goes. */
export interface RequestBodySink extends BodySink {
  /** The body is complete. `trailers` are validated lines, each ended by CRLF. */
  bodyEnd(trailers: string): void;
}

/** The client's side of one exchange, the same for every protocol version. */
export interface Downstream {
  /**
   * Begins the answer: status, header block and edits are taken from the exchange. `bodyLength` is the declared length,
   * -1 when it is not known, 0 for none. The head may be held back to leave with the first body bytes.
   */
  sendHead(exchange: Exchange, bodyLength: number): void;
  /** Sends a piece of the body; it is copied or written before the call returns. False: wait for `Proxy.downstreamDrained`. */
  sendBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): boolean;
  /** The answer is complete. */
  sendEnd(exchange: Exchange, trailers: string): void;
  /** Sends what is held back: called when the backend has no more bytes for now. */
  flush(exchange: Exchange): void;
  /** A 1xx answer before the final one. */
  sendInformational(exchange: Exchange, status: number, block: string): void;
  /** Breaks the transfer so that the client can see that it is not complete. */
  abort(exchange: Exchange): void;
  /** Begins to deliver the request body, `100 Continue` first when the client waits for it. */
  startBody(exchange: Exchange, sink: RequestBodySink): void;
  /**
   * Of a body of undeclared length no more than this is passed on; when it is longer, `requestBodyTooLarge` is called. To be
   * set before the body is read.
   */
  limitBody(exchange: Exchange, bytes: number): void;
  pauseBody(exchange: Exchange): void;
  resumeBody(exchange: Exchange): void;
  /** Turns the connection into a tunnel after a 101; from here on bytes go raw through `sink`. */
  startTunnel(exchange: Exchange, sink: RequestBodySink): void;
  /** The whole request body has been read. */
  readonly bodyComplete: boolean;
}

/** Milliseconds that a connection has for its first request while the node drains: it may be in flight. */
export const firstRequestGrace = 1000;

/** A client's connection as the data plane knows it, whatever it speaks. */
export interface ClientConnection {
  readonly socket: Socket;
  /** Closes when nothing is in flight, or else after it; a new connection may still send its first request. */
  drain(): void;
  /** Asks the client, where its protocol can, to send further requests on another connection. */
  announceEnd(): void;
}

/** What the connection tells the data plane. */
export interface DownstreamHandler {
  /** A request head has been read. */
  request(exchange: Exchange): void;
  /** The client can take more of the answer. */
  downstreamDrained(exchange: Exchange): void;
  /** The client went away, or broke the framing of its body, before the answer was complete. */
  downstreamAborted(exchange: Exchange): void;
  /** The request body is longer than allowed, and the answer has not begun: it is to be refused. */
  requestBodyTooLarge(exchange: Exchange): void;
  /** The answer is complete or broken off; nothing more happens to the exchange. */
  finished(exchange: Exchange): void;
}
