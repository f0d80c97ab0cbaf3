import type { Row } from '../../entities/entity.ts';
import type { Change, ChangeOperation } from '../store.ts';
import { chunks } from './chunks.ts';
import { type EntityTables, toRow } from './entity-table.ts';
import type { Database, SqlTransaction, StoreHead } from './sql-backend.ts';

export interface PendingChange {
  readonly entity: string;
  readonly id: string;
  readonly operation: ChangeOperation;
}

export interface StampedChange extends PendingChange {
  /** Timestamp of the write, in milliseconds. */
  readonly at: number;
}

export async function readVersion(database: Database): Promise<number> {
  const head = await database.selectFrom('store_version').select('version').executeTakeFirstOrThrow();
  return Number(head['version']);
}

/**
 * Appends changes, each with its own version, forgets the oldest beyond `keep`, and moves the store's head. The head's row
 * was locked before anything was read, so versions have no gaps and are seen in order.
 */
export async function appendChanges(
  transaction: SqlTransaction,
  head: StoreHead,
  pending: readonly StampedChange[],
  timestamp: number,
  keep: number,
  breathe: () => Promise<void>,
): Promise<number> {
  const lines = pending.map((change, i) => ({
    version: head.version + i + 1,
    entity: change.entity,
    entity_id: change.id,
    operation: change.operation,
    at: change.at,
  }));
  for (const some of chunks(lines)) {
    await breathe();
    await transaction.insertInto('changes').values(some).execute();
  }
  const version = head.version + lines.length;
  await transaction
    .deleteFrom('changes')
    .where('version', '<=', version - keep)
    .execute();
  await transaction.updateTable('store_version').set({ version, last_timestamp: timestamp }).execute();
  return version;
}

/** For what has a place in lists but is no change: what comes next is stamped later. */
export async function moveTimestamp(transaction: SqlTransaction, timestamp: number): Promise<void> {
  await transaction.updateTable('store_version').set({ last_timestamp: timestamp }).execute();
}

/** Null when the changes after `version` are no longer kept, or when the store has never reached `version`. */
export async function readChanges(
  transaction: SqlTransaction,
  tables: EntityTables,
  version: number,
  limit: number,
): Promise<readonly Change[] | null> {
  const current = await readVersion(transaction);
  if (version === current) return [];
  if (version > current) return null;
  const lines = await transaction
    .selectFrom('changes')
    .select(['version', 'entity', 'entity_id', 'operation'])
    .where('version', '>', version)
    .orderBy('version')
    .limit(limit)
    .execute();
  if (lines[0]?.['version'] !== version + 1) return null;
  const changes = lines.map((line) => ({
    version: Number(line['version']),
    entity: String(line['entity']),
    id: String(line['entity_id']),
    operation: line['operation'] === 'delete' ? ('delete' as const) : ('upsert' as const),
  }));
  const rows = await readRows(transaction, tables, changes);
  return changes.map((change) => ({ ...change, row: rows.get(`${change.entity}/${change.id}`) ?? null }));
}

async function readRows(
  transaction: SqlTransaction,
  tables: EntityTables,
  changes: readonly PendingChange[],
): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>();
  for (const table of tables.values()) {
    const upserted = changes.filter((change) => change.entity === table.name && change.operation === 'upsert');
    for (const ids of chunks([...new Set(upserted.map((change) => change.id))])) {
      const found = await transaction.selectFrom(table.name).selectAll().where('id', 'in', ids).execute();
      for (const columns of found) rows.set(`${table.name}/${columns['id']}`, toRow(table, columns));
    }
  }
  return rows;
}
