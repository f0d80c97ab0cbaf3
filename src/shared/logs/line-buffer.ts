import { writeLatin1, writeUtf8 } from '../util/bytes/latin1.ts';

const lineFeed = 10;
const smallest = 4096;
const nothing = Buffer.alloc(0);
/** Larger memory is not kept between batches. */
const maxSpare = 1024 * 1024;

/**
 * Log lines that wait to be written, as bytes: strings would be scanned by every garbage collection, and take many
 * times their length.
 */
export class LineBuffer {
  /** Number of lines. */
  lines = 0;
  /** True: characters are bytes; else strings are encoded as UTF-8. */
  readonly #ofBytes: boolean;
  /** The first byte is reserved for a line feed that ends an incomplete line. */
  #bytes: Buffer = nothing;
  #end = 1;
  #size = smallest;
  /** Memory of the batch that was taken last, and memory for the next one. */
  #taken: Buffer = nothing;
  #spare: Buffer = nothing;

  constructor(ofBytes: boolean) {
    this.#ofBytes = ofBytes;
  }

  /** In bytes. */
  get length(): number {
    return this.#end - 1;
  }

  add(line: string): void {
    this.#reserve((this.#ofBytes ? line.length : line.length * 3) + 1);
    this.#end += this.#ofBytes ? writeLatin1(this.#bytes, line, this.#end) : writeUtf8(this.#bytes, line, this.#end);
    this.#bytes[this.#end++] = lineFeed;
    this.lines++;
  }

  /** All lines; then the buffer is empty. `broken`: the last write has no end, so that a line feed comes first. */
  take(broken: boolean): Buffer {
    if (this.lines === 0) return nothing;
    this.#bytes[0] = lineFeed;
    const taken = this.#bytes.subarray(broken ? 0 : 1, this.#end);
    // The next batch will be about as large.
    this.#size = Math.max(smallest, Math.ceil((this.#end * 1.25) / smallest) * smallest);
    this.#taken = this.#bytes;
    this.#bytes = nothing;
    this.#end = 1;
    this.lines = 0;
    return taken;
  }

  /**
   * The batch that was taken last has been written: its memory is used again. New memory costs more than the lines in it, because
   * the system has to map each page.
   */
  release(): void {
    const { length } = this.#taken;
    this.#spare = length <= maxSpare && length <= this.#size * 4 ? this.#taken : nothing;
    this.#taken = nothing;
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    if (this.#bytes.length === 0 && this.#spare.length > more) {
      this.#bytes = this.#spare;
      this.#spare = nothing;
      return;
    }
    let size = Math.max(this.#size, this.#bytes.length);
    while (this.#end + more > size) size *= 2;
    const larger = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}
