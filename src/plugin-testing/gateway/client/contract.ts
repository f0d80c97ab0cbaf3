import type { HeaderFields } from '../backend/contract.ts';

/** A request of a client. */
export interface GatewayRequest {
  /** Default: GET. */
  readonly method?: string;
  /** Path and query. Default: `/`. */
  readonly path?: string;
  /** A list is sent as several lines. Default: `Host: test.example`, which is also added if there is no `Host`. */
  readonly headers?: HeaderFields;
  /** Pieces are sent chunked. Default: none. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** A body follows with `write` and `end` of the running request, chunked unless there is a `Content-Length`. Default: false. */
  readonly streamed?: boolean;
  /** HTTP/2. Default: false. */
  readonly http2?: boolean;
  /** Default: 127.0.0.1. */
  readonly clientIp?: string;
  /** `https`: as over TLS, without its cost. Default: http. */
  readonly scheme?: 'http' | 'https';
}

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
  /** First value of a header (any case), or null. */
  header(name: string): string | null;
  /** All values of a header, in order. */
  headerValues(name: string): readonly string[];
}

/** A whole answer. */
export interface TestAnswer extends AnswerHead {
  /** Status 200 to 299. */
  readonly ok: boolean;
  /** As UTF-8. */
  readonly body: string;
  readonly bytes: Buffer;
  readonly trailers: Readonly<Record<string, string>>;
  /** False: the gateway broke the transfer off. */
  readonly complete: boolean;
  readonly httpVersion: '1.1' | '2';
  /** The log record of this request; null: the gateway refused it before it was a request. */
  readonly record: Readonly<Record<string, unknown>> | null;
  text(): string;
  json(): unknown;
}

/** A request in flight. */
export interface RunningRequest {
  /** Resolves when the head of the answer is there. */
  readonly head: Promise<AnswerHead>;
  readonly answer: Promise<TestAnswer>;
  /** Sends a piece of a `streamed` body. */
  write(piece: string | Uint8Array): void;
  /** Ends a `streamed` body. */
  end(): void;
  /** Closes the connection, or the stream of HTTP/2, as a client does that has gone. `answer` rejects if it is not complete. */
  abort(): void;
}

/** No answer came: the connection was closed or reset first, or the test waited too long. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}
