/**
 * Since when the sums of each family are counted. A family whose sums have become smaller was begun anew (its plugin was configured
 * anew, say): from the next message on it starts at the time of the last one before that.
 */
export class StartTimes {
  readonly #begin: number;
  readonly #families = new Map<string, { start: number; total: number; toldAt: number }>();

  /** `begin`: of the node, in milliseconds since the epoch. */
  constructor(begin: number) {
    this.#begin = begin;
  }

  of(family: string): number {
    return this.#families.get(family)?.start ?? this.#begin;
  }

  told(family: string, total: number, now: number): void {
    const known = this.#families.get(family);
    if (known === undefined) {
      this.#families.set(family, { start: this.#begin, total, toldAt: now });
      return;
    }
    if (total < known.total) known.start = known.toldAt;
    known.total = total;
    known.toldAt = now;
  }
}
