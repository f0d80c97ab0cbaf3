/** Marks in a bucket: the newest first. */
const ways = 4;

/** Remembers numbers of 32 bits that were noted lately, in a table of fixed size. A bucket that is full forgets its oldest. */
export class RecentMarks {
  readonly #slots: Int32Array;
  readonly #buckets: number;

  /** Remembers about `size` marks, with 4 bytes for each. */
  constructor(size: number) {
    this.#buckets = 2 ** Math.ceil(Math.log2(Math.max(1, size / ways)));
    this.#slots = new Int32Array(this.#buckets * ways);
  }

  /** Notes the mark. True: it was noted before, and has not been forgotten since. */
  note(mark: number): boolean {
    const slots = this.#slots;
    const first = (mark & (this.#buckets - 1)) * ways;
    const last = first + ways - 1;
    let at = first;
    while (at < last && slots[at] !== mark) at++;
    const known = slots[at] === mark;
    slots.copyWithin(first + 1, first, at);
    slots[first] = mark;
    return known;
  }
}
