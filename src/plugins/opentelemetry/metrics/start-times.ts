/**
 * Start time of the sums of each family. If sums have decreased, the family was reset (for example, its plugin was configured
 * again): from the next message on, its start time is the time of the previous message.
 */
export class StartTimes {
  readonly #begin: number;
  readonly #families = new Map<string, { start: number; total: number; toldAt: number }>();

  /** `begin`: start of the node, in milliseconds since the epoch. */
  constructor(begin: number) {
    this.#begin = begin;
  }

  of(family: string): number {
    return this.#families.get(family)?.start ?? this.#begin;
  }

  observe(family: string, total: number, now: number): void {
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
