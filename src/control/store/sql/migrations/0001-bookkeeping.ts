import { sql } from 'kysely';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import type { Migration } from './migration.ts';

/** Tables in addition to the entities: the head of the store, the change log, the tags, and the shape of each entity's table. */
export const bookkeeping: Migration = { name: '0001-bookkeeping', up };

async function up(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void> {
  const text = sql.raw<string>(types.text);
  const schema = transaction.schema;
  await schema
    .createTable('store_version')
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('last_timestamp', 'bigint', (column) => column.notNull())
    .execute();
  await transaction.insertInto('store_version').values({ version: 0, last_timestamp: 0 }).execute();
  await schema
    .createTable('changes')
    .addColumn('version', 'bigint', (column) => column.primaryKey())
    .addColumn('entity', text, (column) => column.notNull())
    .addColumn('entity_id', text, (column) => column.notNull())
    .addColumn('operation', text, (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('entity_tags')
    .addColumn('entity', text, (column) => column.notNull())
    .addColumn('entity_id', text, (column) => column.notNull())
    .addColumn('tag', text, (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('entity_tags_pkey', ['entity', 'entity_id', 'tag'])
    .execute();
  await schema
    .createIndex('entity_tags_tag_idx')
    .on('entity_tags')
    .columns(['tag', 'entity', 'created_at', 'entity_id'])
    .execute();
  await schema
    .createTable('entity_tables')
    .addColumn('entity', text, (column) => column.primaryKey())
    .addColumn('shape', text, (column) => column.notNull())
    .execute();
}
