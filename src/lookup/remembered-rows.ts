import type { Row } from '../entities/entity.ts';
import { type FileHeader, readCheckedFile, writeCheckedFile } from '../util/checked-file.ts';
import { EntityCache } from './entity-cache.ts';
import type { Found, Question, TouchedRow } from './questions.ts';

const kind: FileHeader = { kind: 'sluicegate-last-good-lookups', format: 1 };

interface Line {
  readonly question: Question;
  readonly rows: readonly Row[];
}

export interface RememberedRowsOptions {
  /** Asks the store. */
  readonly ask: (question: Question) => Promise<Found>;
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

  constructor(options: RememberedRowsOptions) {
    this.#options = options;
    this.#cache = new EntityCache({
      // The workers have put the clients' questions in turn.
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

  forgetAll(version: number): void {
    this.#cache.forgetAll(version);
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
