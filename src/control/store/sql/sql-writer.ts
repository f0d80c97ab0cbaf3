import type { Row } from '../../../shared/entities/entity.ts';
import { createSerialQueue } from '../../../shared/util/time/serial-queue.ts';
import type { RowChange } from '../audit.ts';
import type { Attribution } from '../history.ts';
import { type FeedPosition, type HistoryGap, type RowId, StoreError, type StoreWriter } from '../store.ts';
import { insertAudit } from './audit-records.ts';
import { readChangeLines } from './change-log.ts';
import { rowsSince } from './config-history.ts';
import { checkConstraints } from './rows/check-constraints.ts';
import { type DeletedRow, deleteRows } from './rows/delete-rows.ts';
import { type EntityTable, type EntityTables, tableOf, tagsOf, toColumns, toRow } from './rows/entity-table.ts';
import { tagColumns, tagLines, writeRows } from './rows/write-rows.ts';
import type { SqlTransaction } from './sql-backend.ts';
import { createReader } from './sql-reader.ts';
import { insertRows, run } from './statements.ts';

export interface SqlWriter extends StoreWriter {
  /** Audit records were stored. */
  readonly audited: boolean;
  readonly attribution: Attribution;
  /** Waits for operations still running. Throws the first error of any operation: nothing may be committed then. */
  finish(): Promise<readonly RowChange[]>;
}

/** Maximum expired rows that one transaction removes, so that it stays short. */
const expiredAtOnce = 1000;

/** Maximum rows that `changedSince` names. */
const changedAtOnce = 5000;

export interface WriterOptions {
  readonly tables: EntityTables;
  readonly now: number;
  /** Awaited before each operation. */
  readonly breathe: () => Promise<void>;
  /** Rows that earlier writes of the transaction have changed. */
  readonly earlier: readonly RowId[];
}

export function createWriter(transaction: SqlTransaction, { tables, now, breathe, earlier }: WriterOptions): SqlWriter {
  const reader = createReader(transaction, tables);
  const pending: RowChange[] = [];
  let audited = false;
  let attribution: Attribution = { actor: '', action: 'write' };
  let failure: { readonly error: unknown } | null = null;
  // One after another, so that each check sees what the operations before it wrote.
  const inTurn = createSerialQueue();

  function attempt<T>(operation: () => Promise<T>): Promise<T> {
    return inTurn(async () => {
      try {
        await breathe();
        return await operation();
      } catch (error) {
        failure ??= { error };
        throw error;
      }
    });
  }

  function stamp(table: EntityTable, row: Row, createdAt: number): Row {
    const { updated_at: _, ...rest } = row;
    return { ...rest, id: row.id, created_at: createdAt, ...(table.hasUpdatedAt ? { updated_at: now } : {}) };
  }

  async function changedSince(position: FeedPosition): Promise<readonly RowId[] | HistoryGap> {
    const lines = await readChangeLines(transaction, position, changedAtOnce);
    if (typeof lines === 'string') return lines;
    return lines.changes.length === changedAtOnce ? 'trimmed' : [...lines.changes, ...earlier];
  }

  async function deleteExpired(table: EntityTable, limit: number): Promise<number> {
    const expired = await transaction
      .selectFrom(table.name)
      .select('id')
      .where('expires_at', '<=', Date.now())
      .limit(limit)
      .execute();
    const ids = expired.map((columns) => String(columns['id']));
    const deleted = await deleteRows(transaction, tables, table.name, ids);
    for (const row of deleted) pending.push({ ...gone(row), cause: 'expired' });
    return ids.length;
  }

  async function insert(table: EntityTable, row: Row): Promise<Row> {
    const columns = toColumns(table, row);
    // An expired row must not block a new row with the same unique value.
    if (table.expires) await deleteExpired(table, expiredAtOnce);
    await checkConstraints(transaction, table, row, columns, null);
    await insertRows(transaction, table.name, Object.keys(columns), [columns]);
    await insertTags(transaction, table, row);
    return upserted(table, null, toRow(table, columns));
  }

  async function update(table: EntityTable, row: Row): Promise<Row> {
    const [stored] = await run(transaction, {
      key: `stored ${table.name}`,
      parameters: [row.id],
      build: () => transaction.selectFrom(table.name).selectAll().where('id', '=', row.id),
    });
    if (stored === undefined) throw new StoreError({ kind: 'not-found', entity: table.name, id: row.id });
    const columns = toColumns(table, row);
    await checkConstraints(transaction, table, row, columns, stored);
    const before = toRow(table, stored);
    await run(transaction, {
      key: `update ${table.name}`,
      parameters: [...Object.values(columns), row.id],
      build: () => transaction.updateTable(table.name).set(columns).where('id', '=', row.id),
    });
    if (before.created_at !== row.created_at || !sameTags(before, row)) {
      await transaction
        .deleteFrom('entity_tags')
        .where('entity', '=', table.name)
        .where('entity_id', '=', row.id)
        .execute();
      await insertTags(transaction, table, row);
    }
    return upserted(table, before, toRow(table, columns));
  }

  function upserted(table: EntityTable, before: Row | null, after: Row): Row {
    pending.push({
      entity: table.name,
      id: after.id,
      operation: 'upsert',
      before,
      after,
      cause: 'asked',
      root: '',
    });
    return after;
  }

  async function remove(entity: string, id: string): Promise<boolean> {
    const before = await reader.get(entity, id);
    if (before === null) return false;
    for (const row of await deleteRows(transaction, tables, entity, [id])) {
      const asked = row.entity === entity && row.id === id;
      pending.push(asked ? { ...gone(row), before } : { ...gone(row), cause: 'cascade', root: id });
    }
    return true;
  }

  return {
    ...reader,
    now,
    insert: (entity, row, options) =>
      attempt(() => {
        const table = tableOf(tables, entity);
        return insert(table, stamp(table, row, options?.keepCreatedAt === true ? row.created_at : now));
      }),
    update: (entity, row, options) =>
      attempt(() => {
        const table = tableOf(tables, entity);
        return update(table, stamp(table, row, options?.renewCreatedAt === true ? now : row.created_at));
      }),
    delete: (entity, id) => attempt(() => remove(entity, id)),
    deleteExpired: () =>
      attempt(async () => {
        let deleted = 0;
        for (const table of tables.values()) if (table.expires) deleted += await deleteExpired(table, expiredAtOnce);
        return deleted;
      }),
    writeRows: (writes) =>
      attempt(async () => {
        for (const entity of new Set(writes.map((write) => write.entity))) {
          const table = tableOf(tables, entity);
          while (table.expires && (await deleteExpired(table, expiredAtOnce)) === expiredAtOnce) await breathe();
        }
        const changes = await writeRows(transaction, tables, writes, { now, breathe });
        for (const change of changes) pending.push(change);
      }),
    changedSince: (position) => attempt(() => changedSince(position)),
    changes: pending,
    audit: (records) =>
      attempt(async () => {
        await insertAudit(transaction, records, breathe);
        audited ||= records.length > 0;
      }),
    attribute: (to) => {
      attribution = to;
    },
    rowsSince: (version) => attempt(() => rowsSince(transaction, tables, version, breathe)),
    get audited() {
      return audited;
    },
    get attribution() {
      return attribution;
    },
    finish: async () => {
      await inTurn(async () => undefined);
      if (failure !== null) throw failure.error;
      return pending;
    },
  };
}

function gone({ entity, id, row }: DeletedRow): RowChange {
  return { entity, id, operation: 'delete', before: row, after: null, cause: 'asked', root: '' };
}

function sameTags(a: Row, b: Row): boolean {
  return JSON.stringify(tagsOf(a)) === JSON.stringify(tagsOf(b));
}

async function insertTags(transaction: SqlTransaction, table: EntityTable, row: Row): Promise<void> {
  await insertRows(transaction, 'entity_tags', tagColumns, tagLines(table, row));
}
