import { sql } from 'kysely';
import { migrations } from '../migrations/migrations.ts';
import type { EntityTables } from '../rows/entity-table.ts';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import { newerStoreError } from './newer-store-error.ts';
import { syncEntityTables } from './sync-entity-tables.ts';

/** Upgrades the store to the layout of this version, all or nothing. Nodes that start together do it one after another. */
export async function migrate(backend: SqlBackend, tables: EntityTables): Promise<void> {
  await backend.snapshot.transaction().execute(async (transaction) => {
    await backend.beginMigration(transaction);
    await runMigrations(transaction, backend.types);
    await syncEntityTables(transaction, backend.types, tables);
  });
}

async function runMigrations(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void> {
  await transaction.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('name', sql.raw<string>(types.text), (column) => column.primaryKey())
    .addColumn('applied_at', 'bigint', (column) => column.notNull())
    .execute();
  const rows = await transaction.selectFrom('schema_migrations').select('name').orderBy('name').execute();
  const applied = new Set(rows.map((row) => String(row['name'])));
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = [...applied].find((name) => !known.has(name));
  if (unknown !== undefined) throw newerStoreError(unknown);
  for (const migration of migrations) {
    if (applied.has(migration.name)) continue;
    await migration.up(transaction, types);
    await transaction
      .insertInto('schema_migrations')
      .values({ name: migration.name, applied_at: Date.now() })
      .execute();
  }
}
