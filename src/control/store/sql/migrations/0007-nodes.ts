import { sql } from 'kysely';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import type { Migration } from './migration.ts';

/** The last report of each node of the cluster. */
export const nodes: Migration = { name: '0007-nodes', up };

async function up(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void> {
  const text = sql.raw<string>(types.text);
  await transaction.schema
    .createTable('cluster_nodes')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('data', sql.raw<string>(types.json), (column) => column.notNull())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .execute();
}
