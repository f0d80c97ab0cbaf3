/** Bytes that came before anybody wanted them, in order. */
export class ByteQueue {
  #pieces: Uint8Array[] = [];
  size = 0;

  /** Copies the range. */
  push(bytes: Uint8Array, start: number, end: number): void {
    if (end <= start) return;
    this.#pieces.push(Uint8Array.prototype.slice.call(bytes, start, end));
    this.size += end - start;
  }

  /** Everything, as one piece; the queue is empty afterwards. */
  take(): Uint8Array {
    const all = this.#pieces.length === 1 ? (this.#pieces[0] as Uint8Array) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.size = 0;
    return all;
  }
}
