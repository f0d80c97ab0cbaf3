import type { Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import { createSerialQueue } from '../../../shared/util/time/serial-queue.ts';
import type { StoreWriter } from '../../store/store.ts';
import type { Commit, NotedRead, ReadResult, TransactionRead, TransactionWrite } from '../protocol/store-calls.ts';
import { OwnWrites } from './own-writes.ts';

export interface RecordedTransaction {
  readonly writer: StoreWriter;
  /** Waits for operations still running. Throws the first error of any operation: nothing may be committed then. */
  finish(): Promise<Commit>;
  /** Gives the rows that the work has received the values that were stored. */
  settle(rows: readonly (Row | null)[]): void;
}

export interface RecordingOptions {
  readonly entities: EntityRegistry;
  /** Milliseconds since the epoch, by the clock of the control plane. */
  readonly now: number;
  readonly read: (read: TransactionRead) => Promise<ReadResult>;
}

/** A writer that reads from the control plane, and only notes what has to be written. */
export function recordTransaction({ entities, now, read }: RecordingOptions): RecordedTransaction {
  const own = new OwnWrites(entities);
  const reads = new Map<string, NotedRead>();
  const answers = new Map<string, unknown>();
  const writes: TransactionWrite[] = [];
  /** The row that the work has received for each write. */
  const given: (Record<string, unknown> | null)[] = [];
  let failure: { readonly error: unknown } | null = null;
  // One after another, so that each read sees the writes before it.
  const inTurn = createSerialQueue();

  function attempt<T>(operation: () => Promise<T>): Promise<T> {
    return inTurn(async () => {
      try {
        return await operation();
      } catch (error) {
        failure ??= { error };
        throw error;
      }
    });
  }

  /** A question has one answer in a transaction. */
  async function ask(question: TransactionRead): Promise<unknown> {
    const key = JSON.stringify(question);
    if (!answers.has(key)) {
      const { value, tag } = await read(question);
      answers.set(key, value);
      reads.set(key, { read: question, tag });
    }
    return structuredClone(answers.get(key));
  }

  async function find(entity: string, field: string, value: string): Promise<Row | null> {
    const stored = (await ask({ kind: 'find', entity, field, value })) as Row | null;
    return own.find(entity, field, value, stored);
  }

  function note(write: TransactionWrite, row: Row): Row {
    const definition = entities.byName(row === null ? '' : write.entity);
    const { updated_at: _, ...rest } = row;
    const shown: Record<string, unknown> = { ...rest, ...(definition?.hasUpdatedAt ? { updated_at: now } : {}) };
    writes.push(write);
    given.push(shown);
    own.set(write.entity, row.id, shown as Row);
    return shown as Row;
  }

  const writer: StoreWriter = {
    now,
    get: (entity, id) => attempt(() => find(entity, 'id', id)),
    findBy: (entity, field, value) => attempt(() => find(entity, field, value)),
    list: (entity, query) =>
      attempt(async () => own.list(entity, query, (await ask({ kind: 'list', entity, query })) as readonly Row[])),
    count: (entity) =>
      attempt(async () => {
        let count = (await ask({ kind: 'count', entity })) as number;
        for (const [id, row] of own.count(entity)) {
          const stored = await ask({ kind: 'find', entity, field: 'id', value: id });
          count += (row === null ? 0 : 1) - (stored === null ? 0 : 1);
        }
        return count;
      }),
    hasExpired: async () => false,
    insert: (entity, row, { keepCreatedAt = false } = {}) =>
      attempt(async () =>
        note({ kind: 'insert', entity, row, keepCreatedAt }, keepCreatedAt ? row : { ...row, created_at: now }),
      ),
    update: (entity, row, { renewCreatedAt = false } = {}) =>
      attempt(async () =>
        note({ kind: 'update', entity, row, renewCreatedAt }, renewCreatedAt ? { ...row, created_at: now } : row),
      ),
    delete: (entity, id) =>
      attempt(async () => {
        const found = (await find(entity, 'id', id)) !== null;
        if (!found) return false;
        writes.push({ kind: 'delete', entity, id, found });
        given.push(null);
        own.set(entity, id, null);
        return true;
      }),
    deleteExpired: () => attempt(unsupported('deleteExpired')),
    writeRows: () => attempt(unsupported('writeRows')),
    changedSince: () => attempt(unsupported('changedSince')),
    rowsSince: () => attempt(unsupported('rowsSince')),
    audit: () => attempt(unsupported('audit')),
    attribute: () => {
      throw new TypeError('a data plane cannot attribute a write');
    },
    get changes(): never {
      throw new TypeError('a data plane does not know the changes of a write');
    },
  };
  return {
    writer,
    async finish() {
      await inTurn(async () => undefined);
      if (failure !== null) throw failure.error;
      return { reads: [...reads.values()], writes };
    },
    settle(rows) {
      for (const [index, row] of rows.entries()) {
        const shown = given[index];
        if (shown == null || row === null) continue;
        for (const field of Object.keys(shown)) if (!Object.hasOwn(row, field)) delete shown[field];
        Object.assign(shown, row);
      }
    },
  };
}

function unsupported(name: string): () => Promise<never> {
  return () => Promise.reject(new TypeError(`a data plane cannot use ${name}`));
}
