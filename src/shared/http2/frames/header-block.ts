import { maxFrameSize } from './codes.ts';

/** CONTINUATION frames of one header block. A client needs none for a head of ordinary size. */
const maxContinuations = 64;

/** A header block that comes in several frames. */
export class HeaderBlock {
  readonly stream: number;
  readonly endStream: boolean;
  /** The stream that it depends on; -1: none. */
  readonly dependency: number;
  bytes: Uint8Array = new Uint8Array(0);
  size = 0;
  readonly #maxSize: number;
  #continuations = 0;

  constructor(stream: number, endStream: boolean, dependency: number, maxSize: number) {
    this.stream = stream;
    this.endStream = endStream;
    this.dependency = dependency;
    this.#maxSize = maxSize;
  }

  /** Adds a CONTINUATION frame. False: there are too many, or the block is too long. */
  continue(bytes: Uint8Array, start: number, end: number): boolean {
    if (++this.#continuations > maxContinuations || this.size + end - start > this.#maxSize) return false;
    this.append(bytes, start, end);
    return true;
  }

  append(bytes: Uint8Array, start: number, end: number): void {
    const size = this.size + end - start;
    if (size > this.bytes.byteLength) {
      const room = Math.min(Math.max(size, 2 * this.bytes.byteLength), this.#maxSize + maxFrameSize);
      const larger = new Uint8Array(room);
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    }
    this.bytes.set(bytes.subarray(start, end), this.size);
    this.size = size;
  }
}
