import { sql } from 'kysely';
import type { TagRow } from '../../store.ts';
import type { Database } from '../sql-backend.ts';
import type { EntityTables } from './entity-table.ts';

export async function listTags(
  database: Database,
  tables: EntityTables,
  query: { readonly tag?: string; readonly skip: number; readonly limit: number },
): Promise<readonly TagRow[]> {
  if (query.tag?.includes('\0') === true) return [];
  let select = database
    .selectFrom('entity_tags')
    .select(['entity', 'entity_id', 'tag'])
    // An expression rather than the bare column, which SQLite would look up first and then sort everything it found,
    // instead of following the index that has the order already.
    .where(sql`entity || ''`, 'in', [...tables.keys()])
    .orderBy('tag')
    .orderBy('entity')
    .orderBy('created_at')
    .orderBy('entity_id')
    .limit(query.limit)
    .offset(query.skip);
  if (query.tag !== undefined) select = select.where('tag', '=', query.tag);
  const rows = await select.execute();
  return rows.map((row) => ({
    entityName: String(row['entity']),
    entityId: String(row['entity_id']),
    tag: String(row['tag']),
  }));
}
