import { asBuffer } from './as-buffer.ts';

const minBlockSize = 4096;
const maxBlockSize = 65_536;

/**
 * Collects bytes that arrive in pieces. Small pieces share a block, so a body that is sent byte by byte takes no more
 * memory than one that is sent at once.
 */
export class ByteCollector {
  /** Bytes collected. */
  size = 0;
  #full: Buffer[] = [];
  #block: Buffer | null = null;
  #used = 0;
  /** Number of bytes announced; 0: unknown. */
  readonly #expected: number;

  constructor(expected = 0) {
    this.#expected = Math.max(0, expected);
  }

  /** Bytes of memory that the next `push` of so many bytes allocates. */
  growth(bytes: number): number {
    const missing = bytes - this.#room;
    if (missing <= 0) return 0;
    const step = Math.min(Math.max(minBlockSize, this.size), maxBlockSize);
    const rest = this.#expected - this.size - this.#room;
    return Math.max(missing, rest > 0 ? Math.min(step, rest) : this.size === 0 ? 0 : step);
  }

  /** Copies the range. */
  push(bytes: Uint8Array, start: number, end: number): void {
    const growth = this.growth(end - start);
    const first = Math.min(end - start, this.#room);
    if (first > 0) this.#copy(bytes, start, start + first);
    if (growth > 0) {
      if (this.#block !== null) this.#full.push(this.#block);
      this.#block = Buffer.allocUnsafe(growth);
      this.#used = 0;
      this.#copy(bytes, start + first, end);
    }
    this.size += end - start;
  }

  /** All bytes in one buffer; the collector is empty afterwards. */
  take(): Buffer {
    const pieces = this.pieces();
    const all = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, this.size);
    this.clear();
    return all;
  }

  /** All bytes in order; the collector keeps them. */
  pieces(): readonly Buffer[] {
    if (this.#block === null) return [];
    const last = this.#used === this.#block.byteLength ? this.#block : this.#block.subarray(0, this.#used);
    return this.#full.length === 0 ? [last] : [...this.#full, last];
  }

  clear(): void {
    this.#full = [];
    this.#block = null;
    this.#used = 0;
    this.size = 0;
  }

  get #room(): number {
    return this.#block === null ? 0 : this.#block.byteLength - this.#used;
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    // A `subarray` to copy from would cost more than the copy of a small piece.
    this.#used += asBuffer(bytes).copy(this.#block as Buffer, this.#used, start, end);
  }
}
