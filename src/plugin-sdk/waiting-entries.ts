/** What waits in a queue, oldest first. */
export interface WaitingStore<T> {
  readonly length: number;
  /** The sizes of all together. */
  readonly bytes: number;
  push(entry: T, size: number): void;
  /** The oldest, as many as this at most. */
  take(most: number): readonly T[];
  /** False when there is none. */
  dropOldest(): boolean;
  clear(): void;
}

/** Entries in their order, with the bytes of each: adding and taking cost the same however many there are. */
export class WaitingEntries<T> implements WaitingStore<T> {
  #entries: (T | undefined)[] = [];
  #sizes: number[] = [];
  #first = 0;
  #bytes = 0;

  get length(): number {
    return this.#entries.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(entry: T, bytes: number): void {
    this.#entries.push(entry);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
  }

  take(most: number): readonly T[] {
    const end = Math.min(this.#first + most, this.#entries.length);
    const taken = this.#entries.slice(this.#first, end) as T[];
    this.#forget(end);
    return taken;
  }

  dropOldest(): boolean {
    if (this.length === 0) return false;
    this.#forget(this.#first + 1);
    return true;
  }

  clear(): void {
    this.#forget(this.#entries.length);
  }

  #forget(end: number): void {
    for (let at = this.#first; at < end; at++) {
      this.#bytes -= this.#sizes[at] as number;
      this.#entries[at] = undefined;
    }
    this.#first = end;
    // Moved rarely enough that an entry is moved once on average, and what was taken is never more than half.
    if (end < 1024 && end < this.#entries.length) return;
    if (end * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(end);
    this.#sizes = this.#sizes.slice(end);
    this.#first = 0;
  }
}
