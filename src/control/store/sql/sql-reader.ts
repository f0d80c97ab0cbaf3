import { sql } from 'kysely';
import type { Row } from '../../../shared/entities/entity.ts';
import type { StoreReader } from '../store.ts';
import { columnOf, type EntityTables, tableOf, toRow } from './rows/entity-table.ts';
import { listRows } from './rows/list-rows.ts';
import type { Database } from './sql-backend.ts';
import { run } from './statements.ts';
import { isStorableText } from './storable-text.ts';

export function createReader(database: Database, tables: EntityTables): StoreReader {
  async function findBy(entity: string, field: string, value: string): Promise<Row | null> {
    const table = tableOf(tables, entity);
    const column = columnOf(table, field);
    if (!isStorableText(value)) return null;
    const now = Date.now();
    const [columns] = await run(database, {
      key: `find ${entity} ${column}`,
      parameters: table.expires ? [value, now] : [value],
      build: () => {
        const matching = database.selectFrom(table.name).selectAll().where(column, '=', value);
        const current = table.expires
          ? matching.where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
          : matching;
        // SQLite would plan a statement again for each value of a limit.
        return current.orderBy('created_at').orderBy('id').limit(sql.lit(1));
      },
    });
    return columns === undefined ? null : toRow(table, columns);
  }

  return {
    get: (entity, id) => findBy(entity, 'id', id),
    findBy,
    list: async (entity, query) => {
      const lookedUp = [...Object.values(query.where ?? {}).flat(), ...(query.tags?.names ?? [])];
      if (!lookedUp.every((value) => value === null || isStorableText(value))) return [];
      return await listRows(database, tableOf(tables, entity), query);
    },
    hasExpired: async () => {
      for (const table of tables.values()) {
        if (!table.expires) continue;
        const expired = await database
          .selectFrom(table.name)
          .select('id')
          .where('expires_at', '<=', Date.now())
          .limit(1)
          .executeTakeFirst();
        if (expired !== undefined) return true;
      }
      return false;
    },
    count: async (entity) => {
      const counted = await database
        .selectFrom(tableOf(tables, entity).name)
        .select((eb) => eb.fn.countAll<number>().as('rows'))
        .executeTakeFirstOrThrow();
      return Number(counted.rows);
    },
  };
}
