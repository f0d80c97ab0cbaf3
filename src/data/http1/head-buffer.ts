import { latin1 } from '../../shared/util/bytes/latin1.ts';

/** Collects a head that may arrive in pieces; one that arrives complete is never copied. */
export class HeadBuffer {
  #text = '';
  /** Offset of the first byte after the head that `read` returned. */
  next = 0;

  /** The part of an incomplete head that has arrived. */
  get text(): string {
    return this.#text;
  }

  get empty(): boolean {
    return this.#text === '';
  }

  clear(): void {
    this.#text = '';
  }

  /**
   * The head through the empty line that ends it, or null when it is not complete within `limit` bytes: then `text` is
   * longer than the limit, or more must arrive.
   */
  read(bytes: Uint8Array, start: number, end: number, limit: number): string | null {
    const before = this.#text.length;
    const chunk = latin1(bytes, start, Math.min(end, start + limit + 4));
    const text = before === 0 ? chunk : this.#text + chunk;
    const stop = text.indexOf('\r\n\r\n', Math.max(0, before - 3));
    if (stop < 0 || stop > limit) {
      this.#text = text;
      return null;
    }
    this.#text = '';
    this.next = start + stop + 4 - before;
    return text.length === stop + 4 ? text : text.slice(0, stop + 4);
  }
}
