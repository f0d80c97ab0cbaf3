/** Milliseconds in which a budget that was used up is whole again. */
export const refillTime = 10_000;
/** How many times a budget can be overspent: what is charged may be known only when it has been done. */
export const maxDebt = 3;
/** Entries that are compared when one has to be evicted. */
const candidates = 8;

interface Entry {
  /** Fraction of the budget, up to 1, that was left at `at` (milliseconds on the monotonic clock); negative: it is overspent. */
  left: number;
  at: number;
  cause: string;
}

/**
 * Budgets by name that refill with time. Only those that are not whole need memory, and no more than `max` of them have any. When the table
 * is full, the entry that has most left of the least recently used ones is evicted: newcomers evict each other, not a name
 * that has used up its budget.
 */
export class BudgetTable {
  readonly #max: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The fraction of a budget that is left; negative: it is overspent. `now`: milliseconds on the monotonic clock. */
  left(name: string, now: number): number {
    const entry = this.#entries.get(name);
    if (entry === undefined) return 1;
    const left = leftOf(entry, now);
    if (left === 1) this.#entries.delete(name);
    return left;
  }

  /** Takes a fraction from a budget. Returns what is left then. `cause`: what for; '': no other than before. */
  spend(name: string, fraction: number, now: number, cause = ''): number {
    let entry = this.#entries.get(name);
    if (entry !== undefined) this.#entries.delete(name);
    else {
      if (this.#entries.size >= this.#max) this.#evict(now);
      entry = { left: 1, at: now, cause };
    }
    entry.left = Math.max(-maxDebt, leftOf(entry, now) - fraction);
    entry.at = now;
    if (cause !== '') entry.cause = cause;
    this.#entries.set(name, entry);
    return entry.left;
  }

  /** What a budget was last spent for; '': unknown. */
  causeOf(name: string): string {
    return this.#entries.get(name)?.cause ?? '';
  }

  #evict(now: number): void {
    let chosen = '';
    let most = Number.NEGATIVE_INFINITY;
    let seen = 0;
    for (const [name, entry] of this.#entries) {
      const left = leftOf(entry, now);
      if (left > most) {
        most = left;
        chosen = name;
      }
      if (most === 1 || ++seen === candidates) break;
    }
    this.#entries.delete(chosen);
  }
}

function leftOf({ left, at }: Entry, now: number): number {
  return Math.min(1, left + (now - at) / refillTime);
}
