import type { HeaderNames } from './header-names.ts';

export interface ResponseHeadView {
  readonly status: number;
  /** `upstream`: the backend answered. `gateway`: a plugin or the gateway itself did. */
  readonly source: 'upstream' | 'gateway';
  /** Bytes of the body before body filters, for HEAD those that a GET would get; -1: not known. */
  readonly bodyLength: number;
  header(name: string): string | null;
  headerValues(name: string): readonly string[];
  headers(): Readonly<Record<string, readonly string[]>>;
}

/** Changes to the answer's head, under the rules of `UpstreamRequestEdit`. */
export interface ResponseHeadEdit extends ResponseHeadView {
  /** From 200 to 599. */
  setStatus(status: number): void;
  setHeader(name: string, value: string): void;
  /** Sets several headers to these values, in the order of the names: cheaper than one by one. */
  setHeaders(names: HeaderNames, values: readonly string[]): void;
  addHeader(name: string, value: string): void;
  removeHeader(name: string): void;
}

/**
 * A transform over the answer's body. `chunk` is called for each piece, `end` once; each returns what to send on. One
 * that throws breaks the transfer off: what it should have changed is never sent unchanged.
 */
export interface BodyTransform {
  chunk(piece: Uint8Array): Uint8Array | null;
  /** `trailers`: fields behind the backend's body, lower-case names and values in order; empty when there are none. */
  end(trailers: Readonly<Record<string, readonly string[]>>): Uint8Array | null;
  /** The trailers have become part of the body, and do not go to the client besides. Default: they do. */
  readonly keepsTrailers?: boolean;
}

/** A whole answer, buffered because the plugin declared `needs.responseBody: 'buffer'`. */
export interface ResponseWithBody extends ResponseHeadEdit {
  /**
   * As the backend sent it or a plugin before this one left it. A content coding that the gateway knows (gzip, deflate, br, zstd)
   * has been taken off; `Content-Encoding` names the ones that are left.
   */
  body(): Uint8Array;
  /** Puts another body in its place; `Content-Length` follows. Validators of the old one (`ETag`, ...) are the caller's matter. */
  setBody(body: Uint8Array): void;
}

/** A copy of a backend's answer, taken while it streams by. */
export interface AnswerTap {
  /** Valid during the call only. */
  chunk(piece: Uint8Array): void;
  /** The answer is complete. */
  end(): void;
  /** It broke off; what has come is not the whole. */
  aborted(): void;
}
