import { sql } from 'kysely';
import type { ColumnRow, SqlBackend } from '../sql-backend.ts';
import { isMissingTable } from './recorded-layout.ts';
import { bookkeepingTables, entityTablesChildrenFirst } from './sync-entity-tables.ts';

/** Drops every table of the store, with its data. False: there was none. */
export async function resetStore(backend: SqlBackend): Promise<boolean> {
  try {
    await sql<ColumnRow>`select name from schema_migrations`.execute(backend.read);
  } catch (error) {
    if (isMissingTable(error)) return false;
    throw error;
  }
  await backend.snapshot.transaction().execute(async (transaction) => {
    await backend.beginMigration(transaction);
    const entities = await entityTablesChildrenFirst(transaction);
    for (const { name, drop } of entities) {
      await drop();
      await transaction.schema.dropTable(name).ifExists().execute();
    }
    for (const name of bookkeepingTables) await transaction.schema.dropTable(name).ifExists().execute();
  });
  return true;
}
