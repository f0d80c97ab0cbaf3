import type { EntityRow } from '../../plugin-sdk/entity-access.ts';
import { BoundedCache } from '../util/bounded-cache.ts';

/** A row while it is up to date; shared by all answers that contain it. */
export interface Cell {
  readonly row: EntityRow;
  /** The number of answers that contain it. */
  users: number;
  stale: boolean;
}

export interface Answer {
  readonly cells: readonly Cell[];
  readonly rows: readonly EntityRow[];
  /** It contains all rows of a foreign field. */
  readonly many: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A lookup that the control plane has not answered yet. */
export interface Pending {
  readonly promise: Promise<readonly EntityRow[]>;
  /** An answer from before this version of the store is out of date. */
  neededVersion: number;
  /** Repeat regardless of the version: during the lookup the store was replaced or compared as a whole. */
  repeat: boolean;
}

/** Clients choose missing keys: caching values of a megabyte each would exhaust the memory. No real key is so long. */
const maxMissingKeyLength = 1024;

/**
 * Answers to the lookups in one field of one entity. Absences are cached separately, so that a flood of wrong keys
 * cannot evict the right ones.
 */
export class AnswerTable {
  /** By client group and value. */
  readonly pending = new Map<string, Pending>();
  readonly #found: BoundedCache<string, Answer>;
  readonly #missing: BoundedCache<string, Answer>;

  constructor(size: number, evicted: (answer: Answer) => void) {
    this.#found = new BoundedCache(size, (_, answer) => evicted(answer));
    this.#missing = new BoundedCache(Math.max(2, size >> 2));
  }

  /** The rows, when they are cached and up to date. */
  get(value: string): readonly EntityRow[] | undefined {
    const answer = this.#found.get(value);
    if (answer === undefined) return this.#missing.get(value)?.rows;
    const { cells } = answer;
    for (let at = 0; at < cells.length; at++) if (cells[at]!.stale) return this.#evict(value);
    return answer.expiresAt === Number.POSITIVE_INFINITY || answer.expiresAt > Date.now()
      ? answer.rows
      : this.#evict(value);
  }

  set(value: string, answer: Answer): void {
    this.evict(value);
    if (answer.rows.length > 0) this.#found.set(value, answer);
    else if (value.length <= maxMissingKeyLength) this.#missing.set(value, answer);
  }

  /** The answer for this value is out of date. */
  evict(value: string): void {
    this.#found.delete(value);
    this.#missing.delete(value);
  }

  /** Answers with rows that are up to date, by value. */
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

  #evict(value: string): undefined {
    this.#found.delete(value);
  }
}
