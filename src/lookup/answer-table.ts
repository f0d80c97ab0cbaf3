import type { EntityRow } from '../plugin-sdk/entity-access.ts';
import { BoundedCache } from '../util/bounded-cache.ts';

/** A row as long as it is up to date; shared by all answers that hold it. */
export interface Cell {
  readonly row: EntityRow;
  /** Answers that hold it. */
  users: number;
  stale: boolean;
}

export interface Answer {
  readonly cells: readonly Cell[];
  readonly rows: readonly EntityRow[];
  /** It tells all rows of a foreign field. */
  readonly many: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A question that the control plane has not answered yet. */
export interface Pending {
  readonly promise: Promise<readonly EntityRow[]>;
  /** An answer from before this version of the store is out of date. */
  neededVersion: number;
  /** Whatever its version: since the question was asked the store was replaced or compared as a whole. */
  askAgain: boolean;
}

/** Clients choose what is missing: as many values of a megabyte each would take all memory. Nothing real is so long. */
const longestMissing = 1024;

/**
 * Answers to the questions about one field of one entity. Absences have a place of their own, so that a flood of wrong
 * keys cannot push the right ones out.
 */
export class AnswerTable {
  /** By client group and value. */
  readonly pending = new Map<string, Pending>();
  readonly #found: BoundedCache<string, Answer>;
  readonly #missing: BoundedCache<string, Answer>;

  constructor(size: number, forgotten: (answer: Answer) => void) {
    this.#found = new BoundedCache(size, (_, answer) => forgotten(answer));
    this.#missing = new BoundedCache(Math.max(2, size >> 2));
  }

  /** The rows, when they are known and up to date. */
  get(value: string): readonly EntityRow[] | undefined {
    const answer = this.#found.get(value);
    if (answer === undefined) return this.#missing.get(value)?.rows;
    const { cells } = answer;
    for (let at = 0; at < cells.length; at++) if (cells[at]!.stale) return this.#forget(value);
    return answer.expiresAt === Number.POSITIVE_INFINITY || answer.expiresAt > Date.now()
      ? answer.rows
      : this.#forget(value);
  }

  set(value: string, answer: Answer): void {
    this.forget(value);
    if (answer.rows.length > 0) this.#found.set(value, answer);
    else if (value.length <= longestMissing) this.#missing.set(value, answer);
  }

  /** The answer for this value is out of date. */
  forget(value: string): void {
    this.#found.delete(value);
    this.#missing.delete(value);
  }

  /** Answers that hold a row and are up to date, by value. */
  *found(): Generator<readonly [string, Answer]> {
    for (const [value, answer] of this.#found.entries()) {
      if (!answer.cells.some((cell) => cell.stale)) yield [value, answer];
    }
  }

  clear(): void {
    this.#found.clear();
    this.#missing.clear();
  }

  /** Evicts all answers except these. */
  keepOnly(kept: ReadonlySet<Answer>): void {
    this.#missing.clear();
    for (const [value, answer] of [...this.#found.entries()]) if (!kept.has(answer)) this.#found.delete(value);
  }

  #forget(value: string): undefined {
    this.#found.delete(value);
  }
}
