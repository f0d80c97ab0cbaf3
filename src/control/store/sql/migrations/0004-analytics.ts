import { sql } from 'kysely';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import type { Migration } from './migration.ts';

/** Usage of the API, and names of ids. Not entities, so they are not in the change log. */
export const analytics: Migration = { name: '0004-analytics', up };

async function up(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void> {
  const text = sql.raw<string>(types.text);
  await transaction.schema
    .createTable('usage_rows')
    .addColumn('resolution', 'integer', (column) => column.notNull())
    .addColumn('start', 'bigint', (column) => column.notNull())
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('route', text, (column) => column.notNull())
    .addColumn('service', text, (column) => column.notNull())
    .addColumn('consumer', text, (column) => column.notNull())
    .addColumn('version', text, (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('data', text, (column) => column.notNull())
    // In this order rows are read and removed by time without a further index.
    .addPrimaryKeyConstraint('usage_rows_pkey', [
      'resolution',
      'start',
      'node',
      'route',
      'service',
      'consumer',
      'version',
      'status',
    ])
    .execute();
  await transaction.schema
    .createTable('usage_names')
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('id', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('seen', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_names_pkey', ['kind', 'id'])
    .execute();
  await transaction.schema.createIndex('usage_names_name_idx').on('usage_names').columns(['kind', 'name']).execute();
  await transaction.schema.createIndex('usage_names_seen_idx').on('usage_names').columns(['seen']).execute();
}
