import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { nullAsEmpty } from '../rows/check-constraints.ts';
import type { EntityTable, EntityTables } from '../rows/entity-table.ts';
import { parentsFirst } from '../rows/parents-first.ts';
import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';
import { moveIntoColumns } from './move-into-columns.ts';
import { newerStoreError } from './newer-store-error.ts';
import { addedIn, firstOf, shapeOf, type TableShape } from './table-shape.ts';

const bookkeepingTables = [
  'schema_migrations',
  'entity_tables',
  'entity_tags',
  'changes',
  'store_version',
  'config_history',
];

/**
 * Creates missing tables, and adds columns and indexes for fields that a definition has gained (unique or foreign fields). Tables
 * without a definition are kept: their plugin may be enabled again.
 */
export async function syncEntityTables(
  transaction: SqlTransaction,
  types: SqlBackend['types'],
  tables: EntityTables,
): Promise<void> {
  const rows = await transaction.selectFrom('entity_tables').select(['entity', 'shape']).execute();
  const recorded = new Map(rows.map((row) => [row['entity'], JSON.parse(String(row['shape'])) as TableShape]));
  for (const table of tables.values()) {
    if (bookkeepingTables.includes(table.name)) throw new Error(`an entity cannot be named '${table.name}'`);
  }
  for (const table of parentsFirst(tables)) {
    const shape = shapeOf(table);
    const found = recorded.get(table.name);
    if (found === undefined) {
      await createTable(transaction, types, table);
      await addIndexes(transaction, table.name, shape);
    } else {
      const unknown = firstOf(addedIn(shape, found));
      if (unknown !== null) throw newerStoreError(`${table.name}.${unknown}`);
      const added = addedIn(found, shape);
      if (firstOf(added) === null) continue;
      await addColumns(transaction, types, table.name, added);
      await moveIntoColumns(transaction, table, added);
      await addIndexes(transaction, table.name, added);
    }
    await recordShape(transaction, table.name, shape);
  }
}

async function recordShape(transaction: SqlTransaction, entity: string, shape: TableShape): Promise<void> {
  await transaction
    .insertInto('entity_tables')
    .values({ entity, shape: JSON.stringify(shape) })
    .onConflict((conflict) => conflict.column('entity').doUpdateSet({ shape: JSON.stringify(shape) }))
    .execute();
}

async function createTable(transaction: SqlTransaction, types: SqlBackend['types'], table: EntityTable): Promise<void> {
  const text = sql.raw<string>(types.text);
  let create = transaction.schema
    .createTable(table.name)
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint')
    .addColumn('body', sql.raw<string>(types.json), (column) => column.notNull());
  if (table.expires) create = create.addColumn('expires_at', 'bigint');
  for (const name of table.plainColumns) create = create.addColumn(name, text);
  for (const { column: name, references, onDelete } of table.foreignColumns) {
    create = create.addColumn(name, text, (column) => column.references(`${references}.id`).onDelete(onDelete));
  }
  await create.execute();
  await createIndex(transaction, table.name, 'idx', ['created_at', 'id']);
}

async function addColumns(
  transaction: SqlTransaction,
  types: SqlBackend['types'],
  entity: string,
  added: TableShape,
): Promise<void> {
  const text = sql.raw<string>(types.text);
  if (added.expires === true) await transaction.schema.alterTable(entity).addColumn('expires_at', 'bigint').execute();
  for (const name of added.plainColumns) await transaction.schema.alterTable(entity).addColumn(name, text).execute();
  for (const [name, { references, onDelete }] of Object.entries(added.foreignColumns)) {
    await transaction.schema
      .alterTable(entity)
      .addColumn(name, text, (column) =>
        column.references(`${references}.id`).onDelete(onDelete === 'cascade' ? 'cascade' : 'restrict'),
      )
      .execute();
  }
}

async function addIndexes(transaction: SqlTransaction, entity: string, shape: TableShape): Promise<void> {
  for (const column of shape.unique) await createIndex(transaction, entity, 'key', [column]);
  for (const columns of shape.uniqueTogether) {
    await createIndex(transaction, entity, 'together_key', columns, columns.map(nullAsEmpty));
  }
  if (shape.expires === true) await createIndex(transaction, entity, 'idx', ['expires_at']);
  for (const column of shape.plainColumns) {
    if (!shape.unique.includes(column)) await createIndex(transaction, entity, 'idx', [column]);
  }
  // In list order within each parent, for nested lists.
  for (const column of Object.keys(shape.foreignColumns)) {
    await createIndex(transaction, entity, 'idx', [column, 'created_at', 'id']);
  }
}

async function createIndex(
  transaction: SqlTransaction,
  entity: string,
  kind: 'idx' | 'key' | 'together_key',
  columns: readonly string[],
  expressions: readonly RawBuilder<unknown>[] = columns.map((column) => sql.ref(column)),
): Promise<void> {
  const name = shortened(`${entity}_${columns.join('_')}_${kind}`);
  const create = kind === 'idx' ? sql`create index` : sql`create unique index`;
  await sql`${create} ${sql.id(name)} on ${sql.table(entity)} (${sql.join(expressions)})`.execute(transaction);
}

/** PostgreSQL cuts names after 63 bytes, where two could become one. */
function shortened(name: string): string {
  if (name.length <= 63) return name;
  return `${name.slice(0, 50)}_${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
}
