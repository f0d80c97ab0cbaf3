import type { BodySink } from './body-sink.ts';
import { broken, ChunkDecoder, needMore } from './chunk-decoder.ts';

/** Returned by `feed` when a body without a declared length exceeds the limit; no excess byte was passed on. */
export const tooLarge = -3;

/** An answer to this method, or with this status, ends with its head, whatever length the head declares (RFC 9112 6.3). */
export function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304;
}

/** Reads one message body: of a declared length, chunked, or until the connection closes (RFC 9112 6.3). */
export class BodyReader {
  #left = 0;
  #mode: 'length' | 'chunked' | 'close' = 'length';
  #decoder: ChunkDecoder | null = null;
  #limited: LimitedSink | null = null;
  complete = true;

  /** `length`: bytes, -1 for chunked, -2 for until close. `limit`: maximum bytes of a chunked body; 0: unlimited. */
  begin(length: number, limit = 0): void {
    this.complete = length === 0;
    this.#limited = limit > 0 && length === -1 ? new LimitedSink(limit) : null;
    if (length >= 0) {
      this.#mode = 'length';
      this.#left = length;
    } else if (length === -1) {
      this.#mode = 'chunked';
      if (this.#decoder === null) this.#decoder = new ChunkDecoder();
      else this.#decoder.reset();
    } else this.#mode = 'close';
  }

  /** Lowers the maximum bytes of a chunked body that are passed on from now. */
  limit(bytes: number): void {
    if (this.complete || this.#mode !== 'chunked') return;
    if (this.#limited === null) this.#limited = new LimitedSink(bytes);
    else this.#limited.lower(bytes);
  }

  /** Bytes left to read; infinite when the length is not declared. */
  get left(): number {
    if (this.complete) return 0;
    return this.#mode === 'length' ? this.#left : Number.POSITIVE_INFINITY;
  }

  get trailers(): string {
    return this.#mode === 'chunked' && this.#decoder !== null ? this.#decoder.trailers : '';
  }

  /** True when the end of the connection is the end of the body. */
  get endsWithConnection(): boolean {
    return !this.complete && this.#mode === 'close';
  }

  /** Returns the offset after the body's last byte, `needMore`, or `broken`. */
  feed(bytes: Uint8Array, start: number, end: number, sink: BodySink): number {
    if (this.#mode === 'chunked') {
      const limited = this.#limited;
      if (limited !== null) limited.target = sink;
      const at = (this.#decoder as ChunkDecoder).feed(bytes, start, end, limited ?? sink);
      if (limited?.over === true) return at === broken ? broken : tooLarge;
      if (at >= 0) {
        this.complete = true;
        // The connection may be idle for long: it must not keep what took the body.
        this.#limited = null;
      }
      return at;
    }
    if (this.#mode === 'close') {
      if (end > start) sink.bodyData(bytes, start, end);
      return needMore;
    }
    const stop = Math.min(end, start + this.#left);
    this.#left -= stop - start;
    this.complete = this.#left === 0;
    if (stop > start) sink.bodyData(bytes, start, stop);
    return this.complete ? stop : needMore;
  }
}

/** Takes a body and drops it. */
export const discard: BodySink = { bodyData() {} };

class LimitedSink implements BodySink {
  target: BodySink = discard;
  over = false;
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  lower(limit: number): void {
    this.#left = Math.min(this.#left, limit);
  }

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    this.#left -= end - start;
    if (this.#left < 0) this.over = true;
    else this.target.bodyData(bytes, start, end);
  }
}
