import { sql } from 'kysely';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import type { Migration } from './migration.ts';

/**
 * The versions of the config. Each write of config is a version: its first line (`seq` 0) says who made it, and every line has one
 * row as it was before. The oldest version has no rows: the config as it was when the history began.
 */
export const configHistory: Migration = { name: '0006-config-history', up };

async function up(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void> {
  const text = sql.raw<string>(types.text);
  const { schema } = transaction;
  await schema
    .createTable('config_history')
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('actor', text)
    .addColumn('action', text)
    .addColumn('note', text)
    .addColumn('created', 'integer')
    .addColumn('updated', 'integer')
    .addColumn('deleted', 'integer')
    .addColumn('entity', text)
    .addColumn('row_id', text)
    .addColumn('operation', text)
    .addColumn('before', sql.raw<string>(types.json))
    .addPrimaryKeyConstraint('config_history_pkey', ['version', 'seq'])
    .execute();
  await schema.createIndex('config_history_row_idx').on('config_history').columns(['row_id', 'version']).execute();
  const head = await transaction.selectFrom('store_version').selectAll().executeTakeFirstOrThrow();
  const now = Math.max(Number(head['last_timestamp']) + 1, Date.now());
  // The versions that follow have a later time.
  await transaction.updateTable('store_version').set({ last_timestamp: now }).execute();
  await transaction
    .insertInto('config_history')
    .values({
      version: head['version'] ?? 0,
      seq: 0,
      created_at: now,
      actor: '',
      action: 'start',
      created: 0,
      updated: 0,
      deleted: 0,
    })
    .execute();
}
