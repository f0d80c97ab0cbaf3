import { ByteCollector } from '../util/byte-collector.ts';

/** Bytes that came before anybody wanted them, in order. */
export class ByteQueue {
  readonly #bytes = new ByteCollector();

  get size(): number {
    return this.#bytes.size;
  }

  /** Copies the range. */
  push(bytes: Uint8Array, start: number, end: number): void {
    if (end > start) this.#bytes.push(bytes, start, end);
  }

  /** Everything, as one piece; the queue is empty afterwards. */
  take(): Uint8Array {
    return this.#bytes.take();
  }
}
