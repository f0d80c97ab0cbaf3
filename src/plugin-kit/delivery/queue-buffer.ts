/** Holds the entries that wait in a queue, oldest first. `Batch`: what is sent at once. */
export interface QueueBuffer<T, Batch extends { readonly length: number } = readonly T[]> {
  readonly length: number;
  /** Sum of all sizes. */
  readonly bytes: number;
  /** `size`: -1 is allowed where the buffer has `maxSize`. */
  push(entry: T, size: number): void;
  /** An upper bound of the size of an entry, for entries that are costly to measure. Infinite: this one has to be measured. */
  maxSize?(entry: T): number;
  /** Removes and returns the oldest entries, at most `max`. */
  take(max: number): Batch;
  /** The batch will not be sent again: its memory may be used for another. */
  release?(batch: Batch): void;
  /** False: there is none. */
  dropOldest(): boolean;
  clear(): void;
}

/** Keeps entries in an array. Costs the same per entry however many there are. */
export class ArrayQueueBuffer<T> implements QueueBuffer<T> {
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

  take(max: number): readonly T[] {
    const end = Math.min(this.#first + max, this.#entries.length);
    const taken = this.#entries.slice(this.#first, end) as T[];
    this.#remove(end);
    return taken;
  }

  dropOldest(): boolean {
    if (this.length === 0) return false;
    this.#remove(this.#first + 1);
    return true;
  }

  clear(): void {
    this.#remove(this.#entries.length);
  }

  #remove(end: number): void {
    for (let at = this.#first; at < end; at++) {
      this.#bytes -= this.#sizes[at] as number;
      this.#entries[at] = undefined;
    }
    this.#first = end;
    // Compacts so rarely that each entry moves once on average, and taken entries are never more than half.
    if (end < 1024 && end < this.#entries.length) return;
    if (end * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(end);
    this.#sizes = this.#sizes.slice(end);
    this.#first = 0;
  }
}
