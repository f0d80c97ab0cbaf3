import { sql } from 'kysely';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import type { Migration } from './migration.ts';

/** Who changed what. Not an entity, so it is not in the change log. */
export const audit: Migration = { name: '0003-audit', up };

async function up(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void> {
  const text = sql.raw<string>(types.text);
  const { schema } = transaction;
  await schema
    .createTable('audit_records')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('actor', text, (column) => column.notNull())
    .addColumn('method', text, (column) => column.notNull())
    .addColumn('entity', text)
    .addColumn('entity_id', text)
    .addColumn('request_id', text, (column) => column.notNull())
    .addColumn('body', sql.raw<string>(types.json), (column) => column.notNull())
    .execute();
  const index = (name: string, columns: readonly string[]) =>
    schema
      .createIndex(name)
      .on('audit_records')
      .columns([...columns])
      .execute();
  await index('audit_records_created_at_idx', ['created_at', 'id']);
  await index('audit_records_entity_id_idx', ['entity_id', 'created_at', 'id']);
  await index('audit_records_entity_idx', ['entity', 'created_at', 'id']);
  await index('audit_records_request_id_idx', ['request_id']);
}
