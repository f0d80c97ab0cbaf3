import { StoreError } from '../../store.ts';
import { chunks } from '../chunks.ts';
import type { SqlTransaction } from '../sql-backend.ts';
import type { EntityTable, EntityTables, ForeignColumn } from './entity-table.ts';

export interface DeletedRow {
  readonly entity: string;
  readonly id: string;
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

  async function remove(parent: string, parentIds: readonly string[]): Promise<DeletedRow[]> {
    const fresh = parentIds.filter((id) => !visited.has(`${parent}/${id}`));
    for (const id of fresh) visited.add(`${parent}/${id}`);
    if (fresh.length === 0) return [];
    const deleted: DeletedRow[] = [];
    const references = referencesTo(tables, parent);
    // All restricting rules before any cascade: a refusal must not depend on the order of the definitions.
    for (const { table, foreign } of references.filter((reference) => reference.foreign.onDelete === 'restrict')) {
      const referring = await referringIds(transaction, table, foreign, fresh, 1);
      if (referring.length > 0) throw new StoreError({ kind: 'referenced', entity: parent, by: table.name });
    }
    for (const { table, foreign } of references.filter((reference) => reference.foreign.onDelete === 'cascade')) {
      deleted.push(...(await remove(table.name, await referringIds(transaction, table, foreign, fresh))));
    }
    for (const some of chunks(fresh)) {
      await transaction.deleteFrom('entity_tags').where('entity', '=', parent).where('entity_id', 'in', some).execute();
      await transaction.deleteFrom(parent).where('id', 'in', some).execute();
    }
    deleted.push(...fresh.map((id) => ({ entity: parent, id })));
    return deleted;
  }

  return await remove(entity, ids);
}

function referencesTo(tables: EntityTables, entity: string): { table: EntityTable; foreign: ForeignColumn }[] {
  return [...tables.values()].flatMap((table) =>
    table.foreignColumns.filter((foreign) => foreign.references === entity).map((foreign) => ({ table, foreign })),
  );
}

async function referringIds(
  transaction: SqlTransaction,
  table: EntityTable,
  foreign: ForeignColumn,
  parentIds: readonly string[],
  limit?: number,
): Promise<string[]> {
  const found: string[] = [];
  for (const some of chunks(parentIds)) {
    const all = transaction.selectFrom(table.name).select('id').where(foreign.column, 'in', some).orderBy('created_at');
    const rows = await (limit === undefined ? all : all.limit(limit)).execute();
    found.push(...rows.map((row) => String(row['id'])));
  }
  return found;
}
