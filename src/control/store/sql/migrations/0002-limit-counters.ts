import { sql } from 'kysely';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import type { Migration } from './migration.ts';

/** Counters of limits, shared by all nodes. Not an entity, so it is not in the change log. */
export const limitCounters: Migration = { name: '0002-limit-counters', up };

async function up(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void> {
  const text = sql.raw<string>(types.text);
  await transaction.schema
    .createTable('limit_counters')
    .addColumn('key', text, (column) => column.notNull())
    .addColumn('window_start', 'bigint', (column) => column.notNull())
    .addColumn('used', 'double precision', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('limit_counters_pkey', ['key', 'window_start'])
    .execute();
  await transaction.schema
    .createIndex('limit_counters_expires_at_idx')
    .on('limit_counters')
    .columns(['expires_at'])
    .execute();
}
