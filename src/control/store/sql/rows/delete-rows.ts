import type { Row } from '../../../../shared/entities/entity.ts';
import { StoreError } from '../../store.ts';
import { chunks } from '../chunks.ts';
import type { ColumnRow, SqlTransaction } from '../sql-backend.ts';
import { type EntityTable, type EntityTables, type ForeignColumn, toRow } from './entity-table.ts';

export interface DeletedRow {
  readonly entity: string;
  readonly id: string;
  /** The row of config that an on-delete rule has deleted; null for other rows. */
  readonly row: Row | null;
}

interface Referring {
  readonly id: string;
  readonly row: Row | null;
}

/**
 * Deletes rows and, before them, the rows of on-delete rules, so that each deleted row is known and can be recorded
 * as a change. Returns the deleted rows, children first. Throws `referenced` when a rule restricts.
 */
export async function deleteRows(
  transaction: SqlTransaction,
  tables: EntityTables,
  entity: string,
  ids: readonly string[],
): Promise<readonly DeletedRow[]> {
  const visited = new Set<string>();

  async function remove(parent: string, parents: readonly Referring[]): Promise<DeletedRow[]> {
    const removed = parents.filter(({ id }) => !visited.has(`${parent}/${id}`));
    const fresh = removed.map(({ id }) => id);
    for (const id of fresh) visited.add(`${parent}/${id}`);
    if (fresh.length === 0) return [];
    const deleted: DeletedRow[] = [];
    const references = referencesTo(tables, parent);
    // All restricting rules before any cascade: a refusal must not depend on the order of the definitions.
    for (const { table, foreign } of references.filter((reference) => reference.foreign.onDelete === 'restrict')) {
      const referring = await referringRows(transaction, table, foreign, fresh, 1);
      if (referring.length > 0) throw new StoreError({ kind: 'referenced', entity: parent, by: table.name });
    }
    for (const { table, foreign } of references.filter((reference) => reference.foreign.onDelete === 'cascade')) {
      deleted.push(...(await remove(table.name, await referringRows(transaction, table, foreign, fresh))));
    }
    for (const some of chunks(fresh)) {
      await transaction.deleteFrom('entity_tags').where('entity', '=', parent).where('entity_id', 'in', some).execute();
      await transaction.deleteFrom(parent).where('id', 'in', some).execute();
    }
    for (const { id, row } of removed) deleted.push({ entity: parent, id, row });
    return deleted;
  }

  return await remove(
    entity,
    ids.map((id) => ({ id, row: null })),
  );
}

function referencesTo(tables: EntityTables, entity: string): { table: EntityTable; foreign: ForeignColumn }[] {
  return [...tables.values()].flatMap((table) =>
    table.foreignColumns.filter((foreign) => foreign.references === entity).map((foreign) => ({ table, foreign })),
  );
}

async function referringRows(
  transaction: SqlTransaction,
  table: EntityTable,
  foreign: ForeignColumn,
  parentIds: readonly string[],
  limit?: number,
): Promise<Referring[]> {
  const found: Referring[] = [];
  for (const some of chunks(parentIds)) {
    const from = transaction.selectFrom(table.name).where(foreign.column, 'in', some).orderBy('created_at');
    const all = table.inConfig ? from.selectAll() : from.select('id');
    const rows: readonly ColumnRow[] = await (limit === undefined ? all : all.limit(limit)).execute();
    for (const columns of rows) {
      found.push({ id: String(columns['id']), row: table.inConfig ? toRow(table, columns) : null });
    }
  }
  return found;
}
