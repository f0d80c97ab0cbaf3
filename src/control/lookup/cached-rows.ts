import type { Row } from '../../shared/entities/entity.ts';
import type { Answer } from '../../shared/lookup/answer-table.ts';
import type { Found, Question, TouchedRow } from '../../shared/lookup/calls.ts';
import { EntityCache } from '../../shared/lookup/entity-cache.ts';
import { type FileHeader, readCheckedFile, writeCheckedFile } from '../../shared/util/files/checked-file.ts';

const kind: FileHeader = { kind: 'sluicegate-last-good-lookups', format: 1 };

interface Line {
  readonly question: Question;
  readonly rows: readonly Row[];
}

/** Questions about one field of one entity. */
export interface QuestionBatch {
  readonly entity: string;
  readonly field: string;
  readonly values: readonly string[];
}

export interface CachedRowsOptions {
  /** Queries the store. */
  readonly query: (question: Question) => Promise<Found>;
  /** Sends several queries to the store at once; null: too many rows for one answer. In the order of lists. */
  readonly queryMany: (batch: QuestionBatch) => Promise<readonly Row[] | null>;
  readonly path: string;
  /** The cache has changed and should be written. */
  readonly changed: () => void;
}

/**
 * The recently looked-up consumers and credentials, cached by the control plane of a node whose database is on another host, and on
 * disk next to the last good config. With them the node still accepts the same clients when it is restarted while the database is
 * unavailable. Changed rows are evicted, as in the workers.
 */
export class CachedRows {
  readonly #cache: EntityCache;
  readonly #options: CachedRowsOptions;
  readonly #rechecked = new Set<Answer>();

  constructor(options: CachedRowsOptions) {
    this.#options = options;
    this.#cache = new EntityCache({
      // The workers already schedule clients fairly.
      concurrency: 4096,
      concurrencyPerClient: 4096,
      call: async (call) => {
        if (call.method !== 'find') throw new TypeError('only rows are cached');
        const found = await options.query(call.question);
        if (found.rows.length > 0) options.changed();
        return found;
      },
    });
  }

  rows(question: Question): readonly Row[] | Promise<readonly Row[]> {
    return this.#cache.rows(question);
  }

  touch(rows: readonly TouchedRow[], version: number): void {
    this.#cache.touch(rows, version);
    this.#options.changed();
  }

  /**
   * Reloads all cached rows from the store, for a node that missed changes for a while. Rejects when the store becomes
   * unavailable again; nothing is evicted then, so known clients stay known.
   */
  async recheck(): Promise<void> {
    this.#rechecked.clear();
    for (const batch of batches(this.#cache.answers())) {
      const { entity, field, many } = batch;
      const rows = await this.#options.queryMany({ entity, field, values: batch.values });
      if (rows === null) continue;
      const found = Map.groupBy(rows, (row) => textOf(row[field]));
      for (const value of batch.values) {
        const own = found.get(value) ?? [];
        const answer = this.#cache.refresh({ entity, field, value, many }, many ? own : own.slice(0, 1));
        if (answer !== null) this.#rechecked.add(answer);
      }
    }
  }

  /** Everything that was not just reloaded may be stale. */
  discardUnchecked(version: number): void {
    this.#cache.invalidateAllExcept(this.#rechecked, version);
    this.#rechecked.clear();
    this.#options.changed();
  }

  write(): Promise<void> {
    const lines = [...this.#cache.answers()].map(([question, rows]): Line => ({ question, rows }));
    return writeCheckedFile(this.#options.path, kind, lines);
  }

  /** Reads the file. Throws an `Error` of one line when it cannot be used. */
  async read(): Promise<void> {
    const { lines } = await readCheckedFile(this.#options.path, kind);
    for (const { question, rows } of lines as readonly Line[]) this.#cache.add(question, rows);
  }
}

const valuesPerBatch = 200;

interface KnownBatch extends QuestionBatch {
  readonly values: string[];
  readonly many: boolean;
}

function batches(answers: Iterable<readonly [Question, readonly unknown[]]>): readonly KnownBatch[] {
  const open = new Map<string, KnownBatch>();
  const all: KnownBatch[] = [];
  for (const [{ entity, field, value, many }] of answers) {
    const key = `${entity}/${field}/${many}`;
    let batch = open.get(key);
    if (batch === undefined || batch.values.length === valuesPerBatch) {
      batch = { entity, field, many, values: [] };
      open.set(key, batch);
      all.push(batch);
    }
    batch.values.push(value);
  }
  return all;
}

/** A foreign field is compared by id. */
function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'id' in value) return String(value.id);
  return String(value);
}
