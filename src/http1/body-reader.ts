import { type BodySink, ChunkDecoder, needMore } from './chunk-decoder.ts';

/** Reads one message body: of a declared length, chunked, or until the connection closes (RFC 9112 6.3). */
export class BodyReader {
  #left = 0;
  #mode: 'length' | 'chunked' | 'close' = 'length';
  #decoder: ChunkDecoder | null = null;
  complete = true;

  /** `length`: bytes, -1 for chunked, -2 for until close. */
  begin(length: number): void {
    this.complete = length === 0;
    if (length >= 0) {
      this.#mode = 'length';
      this.#left = length;
    } else if (length === -1) {
      this.#mode = 'chunked';
      if (this.#decoder === null) this.#decoder = new ChunkDecoder();
      else this.#decoder.reset();
    } else this.#mode = 'close';
  }

  /** Bytes that are still to come; infinite when the length is not declared. */
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
      const at = (this.#decoder as ChunkDecoder).feed(bytes, start, end, sink);
      if (at >= 0) this.complete = true;
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

/** Takes a body and forgets it. */
export const discard: BodySink = { bodyData() {} };
