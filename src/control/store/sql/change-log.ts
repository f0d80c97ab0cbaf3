import { randomUUID } from 'node:crypto';
import type { Row } from '../../../shared/entities/entity.ts';
import type { ChangeBatch, ChangeOperation, FeedPosition, HistoryGap } from '../store.ts';
import { chunks } from './chunks.ts';
import { type EntityTables, toRow } from './rows/entity-table.ts';
import type { SqlTransaction, StoreHead } from './sql-backend.ts';
import { insertRows, plain, run } from './statements.ts';
import { readHead } from './store-head.ts';

export interface PendingChange {
  readonly entity: string;
  readonly id: string;
  readonly operation: ChangeOperation;
}

export interface StampedChange extends PendingChange {
  /** Timestamp of the write, in milliseconds. */
  readonly at: number;
}

export interface AppendOptions {
  /** Greatest timestamp of the writes. */
  readonly timestamp: number;
  /** Changes that are kept; older ones are deleted. */
  readonly keep: number;
  /** Greatest version that this process has seen. It is greater than that of the head after an older backup was restored. */
  readonly floor: number;
  readonly breathe: () => Promise<void>;
}

/** The base of the store's next version: no version that this process has seen is assigned to another change. */
export function versionBase(head: StoreHead, floor: number): number {
  return Math.max(head.version, floor);
}

const lineColumns = ['version', 'entity', 'entity_id', 'operation', 'at', 'previous'];

/**
 * Appends changes, each with its own version, deletes the oldest beyond `keep`, and moves the store's head. The head's row
 * was locked before anything was read, so versions are seen in order. Each line has the stamp before it (`previous`), which
 * makes the lines a chain: a reader recognizes a history that is not the one it followed.
 */
export async function appendChanges(
  transaction: SqlTransaction,
  head: StoreHead,
  pending: readonly StampedChange[],
  { timestamp, keep, floor, breathe }: AppendOptions,
): Promise<FeedPosition> {
  const stamp = randomUUID();
  const base = versionBase(head, floor);
  const lines = pending.map((change, i) => ({
    version: base + i + 1,
    entity: change.entity,
    entity_id: change.id,
    operation: change.operation,
    at: change.at,
    previous: i === 0 ? head.stamp : stamp,
  }));
  // A reader that missed more than is kept compares all rows.
  await insertRows(transaction, 'changes', lineColumns, lines.slice(-keep), { breathe });
  const version = base + lines.length;
  await run(transaction, {
    key: 'trim changes',
    parameters: [version - keep],
    build: () => transaction.deleteFrom('changes').where('version', '<=', version - keep),
  });
  await run(transaction, {
    key: 'move head',
    parameters: [version, stamp, timestamp],
    build: () => transaction.updateTable('store_version').set({ version, stamp, last_timestamp: timestamp }),
  });
  return { store: head.store, version, stamp };
}

/** For rows that are listed but are not changes: later rows have a later timestamp. */
export async function moveTimestamp(transaction: SqlTransaction, timestamp: number): Promise<void> {
  await transaction.updateTable('store_version').set({ last_timestamp: timestamp }).execute();
}

export async function readChanges(
  transaction: SqlTransaction,
  tables: EntityTables,
  since: FeedPosition,
  limit: number,
): Promise<ChangeBatch | HistoryGap> {
  const lines = await readChangeLines(transaction, since, limit);
  if (typeof lines === 'string') return lines;
  const rows = await readRows(transaction, tables, lines.changes);
  return {
    changes: lines.changes.map((change) => ({ ...change, row: rows.get(`${change.entity}/${change.id}`) ?? null })),
    position: lines.position,
  };
}

/** Lines of the log without the rows. */
export interface ChangeLines {
  readonly changes: readonly (PendingChange & { readonly version: number })[];
  /** Where the lines end. */
  readonly position: FeedPosition;
}

export async function readChangeLines(
  transaction: SqlTransaction,
  since: FeedPosition,
  limit: number,
): Promise<ChangeLines | HistoryGap> {
  const head = await readHead(plain(transaction));
  if (head.store !== since.store || since.version > head.version) return 'rewritten';
  if (since.version === head.version) {
    return since.stamp === head.stamp ? { changes: [], position: since } : 'rewritten';
  }
  // The line after the last one has the stamp of the position where the batch ends.
  const lines = await transaction
    .selectFrom('changes')
    .select(['version', 'entity', 'entity_id', 'operation', 'previous'])
    .where('version', '>', since.version)
    .orderBy('version')
    .limit(limit + 1)
    .execute();
  const first = lines[0];
  if (first === undefined) return 'trimmed';
  const follows = Number(first['version']) === since.version + 1;
  // Lines of nodes of an earlier version have no stamp.
  if (first['previous'] === null ? !follows : first['previous'] !== since.stamp) {
    return follows ? 'rewritten' : 'trimmed';
  }
  const next = lines[limit];
  const changes = lines.slice(0, limit).map((line) => ({
    version: Number(line['version']),
    entity: String(line['entity']),
    id: String(line['entity_id']),
    operation: line['operation'] === 'delete' ? ('delete' as const) : ('upsert' as const),
  }));
  return {
    changes,
    position: {
      store: head.store,
      version: changes.at(-1)?.version ?? since.version,
      stamp: next === undefined ? head.stamp : String(next['previous'] ?? since.stamp),
    },
  };
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
