import type { HeaderNames } from './header-names.ts';

/** The head of the response. */
export interface ResponseHeadView {
  readonly status: number;
  /** `upstream`: a backend responded. `gateway`: a plugin or the gateway replied. */
  readonly source: 'upstream' | 'gateway';
  /** Bytes of the body before body filters; for `HEAD` what a `GET` would have; -1: unknown. */
  readonly bodyLength: number;
  /** First value of a header (any case), or null. */
  header(name: string): string | null;
  /** All values of a header (any case), in order. */
  headerValues(name: string): readonly string[];
  /** All headers: lower-case names, values in order. */
  headers(): Readonly<Record<string, readonly string[]>>;
}

/**
 * Changes to the head of the response. A name or value with a control character throws an Error, and so does setting a header
 * that frames the message (`framingHeaders`).
 *
 * @example
 * response.setHeader('Cache-Control', 'no-store');
 * response.addHeader('Set-Cookie', setCookie('seen', '1', attributes, 3600));
 */
export interface ResponseHeadEdit extends ResponseHeadView {
  /** @throws Error for a status outside of 200 to 599. */
  setStatus(status: number): void;
  /** Replaces all values of the header. */
  setHeader(name: string, value: string): void;
  /** Sets several headers: cheaper than one by one. `values` are in the order of `names`. */
  setHeaders(names: HeaderNames, values: readonly string[]): void;
  /** Adds a value. */
  addHeader(name: string, value: string): void;
  /** Does nothing to headers that frame the message. */
  removeHeader(name: string): void;
}

/**
 * A transform over the body of a response. `chunk` is called for each piece, `end` once after the last one; both return the
 * bytes to send, or null for none. An exception aborts the transfer, so that nothing is sent unchanged.
 *
 * @example
 * bodyFilter: () => ({
 *   chunk: (piece) => Buffer.from(Buffer.from(piece).toString('latin1').toUpperCase(), 'latin1'),
 *   end: () => null,
 * }),
 */
export interface BodyTransform {
  /** @param piece Valid during the call only: the buffer is shared. */
  chunk(piece: Uint8Array): Uint8Array | null;
  /** @param trailers Fields after the backend's body: lower-case names, values in order; empty if there are none. */
  end(trailers: Readonly<Record<string, readonly string[]>>): Uint8Array | null;
  /** True: the trailers became part of the body and are not sent to the client as trailers. Default: false. */
  readonly keepsTrailers?: boolean;
}

/** The whole response, buffered because of `needs.responseBody` with the mode `buffer`. */
export interface ResponseWithBody extends ResponseHeadEdit {
  /**
   * The body as the plugin before this one left it, without its content coding (gzip, deflate, br, zstd). If
   * `Content-Encoding` is still there, it names a coding that the gateway does not know; a plugin that protects something must
   * refuse such a body.
   */
  body(): Uint8Array;
  /** Replaces the body; `Content-Length` follows. Adjust `ETag` and digests yourself. */
  setBody(body: Uint8Array): void;
}

/** Receives a copy of a response while it streams. Must be quick; an exception ends the tap, not the response. */
export interface AnswerTap {
  /** @param piece Valid during the call only: the buffer is shared. */
  chunk(piece: Uint8Array): void;
  /** The response is complete. */
  end(): void;
  /** The response is incomplete, or replaced by another one. Nothing follows. */
  aborted(): void;
}
