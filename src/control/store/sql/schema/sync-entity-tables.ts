import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { nullAsEmpty } from '../rows/check-constraints.ts';
import type { EntityTable, EntityTables } from '../rows/entity-table.ts';
import { parentsFirst } from '../rows/parents-first.ts';
import type { Database, SqlBackend, SqlTransaction } from '../sql-backend.ts';
import { plain } from '../statements.ts';
import { createBodyTrigger, dropBodyTrigger } from './body-trigger.ts';
import { copyIntoColumns, moveIntoColumns } from './move-into-columns.ts';
import { newerStoreError } from './newer-store-error.ts';
import { missingIn, readShapes, unknownIn } from './recorded-layout.ts';
import { emptyShape, firstOf, type RecordedShape, shapeOf, type TableShape, union } from './table-shape.ts';

/** Tables that are not of entities. */
export const bookkeepingTables = [
  'schema_migrations',
  'additive_migrations',
  'entity_tables',
  'entity_tags',
  'changes',
  'store_version',
  'config_history',
  'limit_counters',
  'audit_records',
  'usage_rows',
  'usage_names',
  'cluster_nodes',
];

/**
 * Creates missing tables, and adds columns and indexes for fields that a definition has gained (unique or foreign fields). Tables
 * without a definition are kept: their plugin may be enabled again. What another version has added is kept too; with PostgreSQL,
 * additions are not required of other nodes before `finishEntityTables`.
 */
export async function syncEntityTables(
  transaction: SqlTransaction,
  { kind, types, lockHead }: Pick<SqlBackend, 'kind' | 'types' | 'lockHead'>,
  tables: EntityTables,
): Promise<void> {
  const recorded = await readShapes(plain(transaction));
  for (const table of tables.values()) {
    if (bookkeepingTables.includes(table.name)) throw new Error(`an entity cannot be named '${table.name}'`);
  }
  for (const table of parentsFirst(tables)) {
    const shape = shapeOf(table);
    const found = recorded.get(table.name);
    if (found === undefined) {
      await createTable(transaction, types, table);
      await addIndexes(transaction, table.name, shape);
      await recordShape(transaction, table.name, shape);
      continue;
    }
    const unknown = unknownIn(found, table);
    if (unknown !== null) throw newerStoreError(`${table.name}.${unknown}`);
    const before = found.added ?? emptyShape;
    const missing = missingIn(found, table);
    if (firstOf(missing) === null) continue;
    // Other nodes write.
    await lockHead(transaction);
    await addColumns(transaction, types, table.name, missing);
    if (kind === 'sqlite') {
      await moveIntoColumns(transaction, table.name, missing);
      await recordShape(transaction, table.name, union(found, shape));
    } else {
      const added = union(before, missing);
      await createBodyTrigger(transaction, table.name, added);
      await copyIntoColumns(transaction, table.name);
      await recordShape(transaction, table.name, { ...found, added });
    }
    await addIndexes(transaction, table.name, missing);
  }
}

/** Makes additions required: a version that does not know them refuses the store from now on. Returns the names of the steps. */
export async function finishEntityTables(transaction: SqlTransaction): Promise<readonly string[]> {
  const finished: string[] = [];
  for (const [entity, { added, ...shape }] of await readShapes(plain(transaction))) {
    if (added === undefined) continue;
    await dropBodyTrigger(transaction, entity);
    await moveIntoColumns(transaction, entity, added);
    await recordShape(transaction, entity, union(shape, added));
    finished.push(stepOf(entity));
  }
  return finished;
}

/** Entities with additions that are not finished, and those whose tables this version would create or change. */
export async function pendingEntityTables(
  database: Database,
  tables: EntityTables,
): Promise<{ readonly pending: readonly string[]; readonly fresh: readonly string[] }> {
  const recorded = await readShapes(plain(database));
  const fresh = [...tables.values()].filter((table) => {
    const found = recorded.get(table.name);
    return found === undefined || firstOf(missingIn(found, table)) !== null;
  });
  const pending = [...recorded].flatMap(([entity, { added }]) => (added === undefined ? [] : [stepOf(entity)]));
  return { pending, fresh: fresh.map(({ name }) => stepOf(name)) };
}

/** Every table of an entity, also without a definition; `drop` removes what belongs to it. */
export async function entityTablesChildrenFirst(
  transaction: SqlTransaction,
): Promise<readonly { readonly name: string; readonly drop: () => Promise<void> }[]> {
  const left = new Map(await readShapes(plain(transaction)));
  const ordered: { name: string; drop: () => Promise<void> }[] = [];
  while (left.size > 0) {
    const referred = new Set(
      [...left].flatMap(([entity, { foreignColumns, added }]) =>
        Object.values({ ...foreignColumns, ...added?.foreignColumns }).flatMap(({ references }) =>
          references === entity ? [] : [references],
        ),
      ),
    );
    const free = [...left].filter(([entity]) => !referred.has(entity));
    if (free.length === 0) throw new Error(`tables refer to each other: ${[...left.keys()].join(', ')}`);
    for (const [name, { added }] of free) {
      left.delete(name);
      ordered.push({ name, drop: async () => (added === undefined ? undefined : dropBodyTrigger(transaction, name)) });
    }
  }
  return ordered;
}

function stepOf(entity: string): string {
  return `entity ${entity}`;
}

async function recordShape(transaction: SqlTransaction, entity: string, shape: RecordedShape): Promise<void> {
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
