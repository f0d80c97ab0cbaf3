import type { Duplex } from 'node:stream';

/** A request as a backend received it. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** Lower-case names, values in order. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly httpVersion: '1.1' | '2';
  /** Host and port that the gateway connected to: `backend.test:80`. */
  readonly address: string;
  /** Of this connection, from 1. */
  readonly serial: number;
  /** The body; what has arrived of it, if the request was aborted. */
  readonly bytes: Buffer;
  /** `bytes` as UTF-8. */
  readonly body: string;
  /** False: the gateway broke it off. */
  readonly complete: boolean;
  /** First value of a header (any case), or null. */
  header(name: string): string | null;
}

export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

/** Pieces of a body. A generator can wait between them, for example with `setTimeout`, which follows the clock of the gateway. */
export type BodyPieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** An answer of a backend. */
export interface BackendAnswer {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: HeaderFields;
  /** A string or bytes get a `Content-Length`; pieces are chunked. Default: none. */
  readonly body?: string | Uint8Array | BodyPieces;
  readonly trailers?: Readonly<Record<string, string>>;
  /** After status 101: what the backend does with the connection. */
  readonly tunnel?: (socket: Duplex) => void;
}

/** What a backend does instead of an answer. */
export type BackendFailure =
  /** Closes the connection with a reset, before any byte of an answer. */
  | 'reset'
  /** Closes the connection in an orderly way, before any byte of an answer. */
  | 'close'
  /** Never answers. */
  | 'hang'
  /** Sends these bytes as they are, then closes the connection: half an answer, or none that is HTTP. HTTP/1.1 only. */
  | { readonly raw: string | Uint8Array };

/** Answers a request, when all of its body has arrived. An exception is answered with 500. */
export type BackendHandler = (
  request: ReceivedRequest,
) => BackendAnswer | BackendFailure | Promise<BackendAnswer | BackendFailure>;
