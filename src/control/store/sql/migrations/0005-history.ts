import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import type { Migration } from './migration.ts';

/**
 * The store's identity, and the stamps by which a node recognizes that the history it followed is no longer that of the
 * store. Changes from before have no stamp.
 */
export const history: Migration = { name: '0005-history', up };

async function up(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void> {
  const text = sql.raw<string>(types.text);
  await transaction.schema.alterTable('store_version').addColumn('identity', text).execute();
  await transaction.schema.alterTable('store_version').addColumn('stamp', text).execute();
  await transaction.schema.alterTable('changes').addColumn('previous', text).execute();
  await transaction.updateTable('store_version').set({ identity: randomUUID(), stamp: randomUUID() }).execute();
}
