import type { EntityDefinition } from '../../shared/entities/entity.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { Migration } from './sql/migrations/migration.ts';
import type { SqlBackend, StoreLog } from './sql/sql-backend.ts';
import type { Store } from './store.ts';

export type StoreOptions = CommonOptions & MigrationOptions & (SqliteOptions | PostgresOptions);

interface CommonOptions {
  /** Every entity of the store; missing tables are created. */
  readonly definitions: readonly EntityDefinition[];
  /** Receives events that no caller waits for, such as a lost change feed. Default: they are dropped. */
  readonly log?: StoreLog;
  /** Maximum changes that are kept for nodes that catch up; a node that missed more reads everything. Default 50,000. */
  readonly keptChanges?: number;
}

/** For tests of upgrades. */
interface MigrationOptions {
  /** Migrations after those of the first release. Default: all. */
  readonly later?: readonly Migration[];
}

interface SqliteOptions {
  readonly kind: 'sqlite';
  /** Created, with its directory, when it does not exist. */
  readonly file: string;
  /** Called often in the course of a write, on the thread that it occupies. It may block for less than a millisecond. Default: nothing. */
  readonly giveWay?: (() => void) | undefined;
}

interface PostgresOptions {
  readonly kind: 'postgres';
  readonly pg: Settings['pg'];
  /** PEM of the authorities that sign the server's certificate. Default: the built-in ones. */
  readonly ca?: string;
}

export type { StoreLog };

const defaultKeptChanges = 50_000;

const silent: StoreLog = { info: () => undefined, warn: () => undefined };

/**
 * Opens the store; call `migrate()` before anything else. SQLite's file is opened here, and an
 * error is a `StoreError` of kind `refused`. PostgreSQL is not contacted before `migrate()` or `ping()`, so that a node can open a store whose
 * database is not reachable yet.
 */
export async function createStore(options: StoreOptions): Promise<Store> {
  const log = options.log ?? silent;
  const { definitions, later, keptChanges = defaultKeptChanges } = options;
  const common = { definitions, later, keptChanges, log };
  if (options.kind === 'sqlite') {
    const { openSqliteStore } = await import('./sql/sqlite/open-sqlite-store.ts');
    return openSqliteStore(options.file, { ...common, giveWay: options.giveWay });
  }
  const { createSqlStore } = await import('./sql/sql-store.ts');
  return createSqlStore(await createBackend(options, log), common);
}

/** Only the client of the database that is used is loaded. */
export async function createBackend(options: StoreOptions, log: StoreLog): Promise<SqlBackend> {
  switch (options.kind) {
    case 'sqlite': {
      const { openSqliteBackend } = await import('./sql/sqlite/sqlite-backend.ts');
      return openSqliteBackend(options.file, { log });
    }
    case 'postgres': {
      const { createPostgresBackend } = await import('./sql/postgres/postgres-backend.ts');
      return createPostgresBackend({ pg: options.pg, ca: options.ca ?? null, log });
    }
  }
}
