/** What a dynamic table holds. */
export interface TableEntry {
  /** Name, value and overhead (RFC 7541 4.1); bytes. */
  readonly size: number;
}

const firstSlots = 16;

/** Entries in the order of their insertion; the oldest are evicted (RFC 7541 2.3.2, 4). */
export class DynamicTable<Entry extends TableEntry> {
  /** Entries inserted so far: the number of the next one. */
  inserted = 0;
  count = 0;
  size = 0;
  #maxSize: number;
  /** A ring; its length is a power of two. */
  #slots: (Entry | null)[] = [];

  /** `maxSize`: bytes. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get maxSize(): number {
    return this.#maxSize;
  }

  /** The entry that is `distance` older than the newest; null when there is none. */
  get(distance: number): Entry | null {
    if (distance >= this.count) return null;
    return this.#slots[(this.inserted - 1 - distance) & (this.#slots.length - 1)] as Entry;
  }

  /** An entry larger than the table empties it (RFC 7541 4.4). */
  insert(entry: Entry): void {
    this.#evict(this.#maxSize - entry.size);
    if (entry.size > this.#maxSize) return;
    if (this.count === this.#slots.length) this.#grow();
    this.#slots[this.inserted & (this.#slots.length - 1)] = entry;
    this.inserted++;
    this.count++;
    this.size += entry.size;
  }

  resize(maxSize: number): void {
    this.#maxSize = maxSize;
    this.#evict(maxSize);
  }

  /** Evicts until the others take at most `room` bytes. */
  #evict(room: number): void {
    while (this.size > room && this.count > 0) {
      const at = (this.inserted - this.count) & (this.#slots.length - 1);
      this.size -= (this.#slots[at] as Entry).size;
      this.#slots[at] = null;
      this.count--;
    }
  }

  #grow(): void {
    const slots: (Entry | null)[] = new Array(Math.max(firstSlots, this.#slots.length * 2)).fill(null);
    for (let number = this.inserted - this.count; number < this.inserted; number++)
      slots[number & (slots.length - 1)] = this.#slots[number & (this.#slots.length - 1)] as Entry;
    this.#slots = slots;
  }
}
