import { sql } from 'kysely';
import type { Migration } from '../migrations/migration.ts';
import { baseMigrations, laterMigrations } from '../migrations/migrations.ts';
import type { EntityTables } from '../rows/entity-table.ts';
import type { ColumnRow, Database, SqlBackend, SqlTransaction } from '../sql-backend.ts';
import { plain } from '../statements.ts';
import { newerStoreError } from './newer-store-error.ts';
import { type Applied, isMissingTable, readApplied } from './recorded-layout.ts';
import { finishEntityTables, pendingEntityTables, syncEntityTables } from './sync-entity-tables.ts';

export interface MigrateOptions {
  readonly tables: EntityTables;
  /** Migrations after those of the first release. Default: all. */
  readonly later?: readonly Migration[] | undefined;
}

export interface MigrateRun extends MigrateOptions {
  /** Nodes of the version before use the store. */
  readonly shared: boolean;
}

/**
 * Upgrades the store to the layout of this version, all or nothing. Nodes that start together do it one after another, and nodes of the
 * version before keep running. Unless the store is shared, `finish` is included.
 *
 * New steps follow finished ones: those that an earlier upgrade has left are finished first. Then only nodes of this version and the one
 * before are left, and both know them.
 */
export async function migrate(
  backend: SqlBackend,
  { tables, later = laterMigrations, shared }: MigrateRun,
): Promise<void> {
  await backend.snapshot.transaction().execute(async (transaction) => {
    await backend.beginMigration(transaction);
    const applied = await prepare(transaction, backend.types);
    const fresh = later.filter(({ name }) => !applied.required.has(name) && !applied.additive.has(name));
    const unknown = [...applied.required].find((name) => !isKnown(name, later));
    if (unknown !== undefined) throw newerStoreError(unknown);
    for (const { name, up } of baseMigrations) {
      if (applied.required.has(name)) continue;
      await up(transaction, backend.types);
      await record(transaction, 'schema_migrations', name);
    }
    if (fresh.length > 0) await finishAll(transaction, backend, later, applied);
    for (const { name, up } of fresh) {
      await up(transaction, backend.types);
      await record(transaction, 'additive_migrations', name);
    }
    await syncEntityTables(transaction, backend, tables);
    if (!shared) await finishAll(transaction, backend, later, await readApplied(plain(transaction)));
  });
}

/** Runs what only works without nodes of the version before. Returns the names of the steps. */
export async function finishMigrations(
  backend: SqlBackend,
  { later = laterMigrations }: MigrateOptions,
): Promise<readonly string[]> {
  return await backend.snapshot.transaction().execute(async (transaction) => {
    await backend.beginMigration(transaction);
    const applied = await prepare(transaction, backend.types);
    if (!baseMigrations.every(({ name }) => applied.required.has(name))) return [];
    // Other nodes write.
    await backend.lockHead(transaction);
    return [...(await finishAll(transaction, backend, later, applied)), ...(await finishEntityTables(transaction))];
  });
}

async function finishAll(
  transaction: SqlTransaction,
  { types }: SqlBackend,
  later: readonly Migration[],
  applied: Applied,
): Promise<readonly string[]> {
  const finished: string[] = [];
  for (const { name, finish } of later) {
    if (finish === undefined || applied.required.has(name) || !applied.additive.has(name)) continue;
    await finish(transaction, types);
    await record(transaction, 'schema_migrations', name);
    finished.push(name);
  }
  return finished;
}

/** What `sluicegate migrations list` shows. */
export interface MigrationState {
  readonly executed: readonly string[];
  /** Additive part done, the rest not. */
  readonly pending: readonly string[];
  readonly fresh: readonly string[];
  /** Of a later version. */
  readonly unknown: readonly string[];
}

/** Reads without changing anything. Null: the database has no store yet. */
export async function readMigrationState(
  backend: SqlBackend,
  { tables, later = laterMigrations }: MigrateOptions,
): Promise<MigrationState | null> {
  const required = await namesIn(backend.read, 'schema_migrations');
  if (required === null) return null;
  const additive = (await namesIn(backend.read, 'additive_migrations')) ?? [];
  const applied = new Set([...required, ...additive]);
  const known = [...baseMigrations, ...later];
  const entities = await pendingEntityTables(backend.read, tables);
  const isPending = ({ name, finish }: Migration): boolean =>
    finish !== undefined && applied.has(name) && !required.includes(name);
  return {
    executed: known.filter((one) => applied.has(one.name) && !isPending(one)).map(({ name }) => name),
    pending: [...later.filter(isPending).map(({ name }) => name), ...entities.pending],
    fresh: [...known.filter(({ name }) => !applied.has(name)).map(({ name }) => name), ...entities.fresh],
    unknown: [...applied].filter((name) => !isKnown(name, later)),
  };
}

function isKnown(name: string, later: readonly Migration[]): boolean {
  return [...baseMigrations, ...later].some((migration) => migration.name === name);
}

async function prepare(transaction: SqlTransaction, types: SqlBackend['types']): Promise<Applied> {
  for (const table of ['schema_migrations', 'additive_migrations']) {
    await transaction.schema
      .createTable(table)
      .ifNotExists()
      .addColumn('name', sql.raw<string>(types.text), (column) => column.primaryKey())
      .addColumn('applied_at', 'bigint', (column) => column.notNull())
      .execute();
  }
  return await readApplied(plain(transaction));
}

async function record(transaction: SqlTransaction, table: string, name: string): Promise<void> {
  await transaction.insertInto(table).values({ name, applied_at: Date.now() }).execute();
}

/** Null: the table does not exist. */
async function namesIn(database: Database, table: string): Promise<readonly string[] | null> {
  try {
    const { rows } = await sql<ColumnRow>`select name from ${sql.table(table)} order by name`.execute(database);
    return rows.map((row) => String(row['name']));
  } catch (error) {
    if (isMissingTable(error)) return null;
    throw error;
  }
}
