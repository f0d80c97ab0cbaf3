import type { Row } from '../entities/entity.ts';
import { type FileHeader, readCheckedFile, writeCheckedFile } from '../util/checked-file.ts';
import type { Answer } from './answer-table.ts';
import { EntityCache } from './entity-cache.ts';
import type { Found, Question, TouchedRow } from './questions.ts';

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

export interface RememberedRowsOptions {
  /** Asks the store. */
  readonly ask: (question: Question) => Promise<Found>;
  /** Sends several questions to the store at once; null: too many rows for one answer. In the order of lists. */
  readonly askMany: (batch: QuestionBatch) => Promise<readonly Row[] | null>;
  readonly path: string;
  /** There is something new to be written. */
  readonly changed: () => void;
}

/**
 * The consumers and credentials that were asked for lately, kept by the control plane of a node whose database is
 * elsewhere, and on disk beside the last good config: with them the node goes on to let the same clients in when it is
 * started again while the database is away. What changes is forgotten as it is by the workers.
 */
export class RememberedRows {
  readonly #cache: EntityCache;
  readonly #options: RememberedRowsOptions;
  readonly #rechecked = new Set<Answer>();

  constructor(options: RememberedRowsOptions) {
    this.#options = options;
    this.#cache = new EntityCache({
      // The workers already serve clients in turn.
      concurrency: 4096,
      concurrencyPerClient: 4096,
      ask: async (call) => {
        if (call.method !== 'find') throw new TypeError('only rows are remembered');
        const found = await options.ask(call.question);
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
      const rows = await this.#options.askMany({ entity, field, values: batch.values });
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
  forgetUnchecked(version: number): void {
    this.#cache.forgetAllBut(this.#rechecked, version);
    this.#rechecked.clear();
    this.#options.changed();
  }

  write(): Promise<void> {
    const lines = [...this.#cache.answers()].map(([question, rows]): Line => ({ question, rows }));
    return writeCheckedFile(this.#options.path, kind, lines);
  }

  /** Takes over what the file holds. Throws an `Error` of one line when it cannot be used. */
  async read(): Promise<void> {
    const { lines } = await readCheckedFile(this.#options.path, kind);
    for (const { question, rows } of lines as readonly Line[]) this.#cache.learn(question, rows);
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
