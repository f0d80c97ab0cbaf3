import type { EntityDefinition } from '../entities/entity.ts';
import type { Settings } from '../settings/settings.ts';
import type { SqlBackend, StoreLog } from './sql/sql-backend.ts';
import { createSqlStore } from './sql/sql-store.ts';
import type { Store } from './store.ts';

export type StoreOptions = CommonOptions & (SqliteOptions | PostgresOptions);

interface CommonOptions {
  /** Every entity that the store shall hold; a table is made for each that has none. */
  readonly definitions: readonly EntityDefinition[];
  /** Told of what no caller waits for, such as a lost change feed. Default: nobody is. */
  readonly log?: StoreLog;
  /** How many changes are kept for nodes that catch up; one that missed more dumps everything. Default 10,000. */
  readonly keptChanges?: number;
}

interface SqliteOptions {
  readonly kind: 'sqlite';
  /** Made, with its directory, when it does not exist. */
  readonly file: string;
}

interface PostgresOptions {
  readonly kind: 'postgres';
  readonly pg: Settings['pg'];
  /** PEM of the authorities that sign the server's certificate. Default: the built-in ones. */
  readonly ca?: string;
}

export type { StoreLog };

const defaultKeptChanges = 10_000;

const silent: StoreLog = { info: () => undefined, warn: () => undefined };

/**
 * Opens the store; call `migrate()` before anything else. SQLite's file is opened here, and a `StoreError` `refused` says why
 * when it cannot be. PostgreSQL is not contacted before `migrate()` or `ping()`, so that a node can hold a store whose database
 * is not reachable yet.
 */
export async function createStore(options: StoreOptions): Promise<Store> {
  const log = options.log ?? silent;
  return createSqlStore(await createBackend(options, log), {
    definitions: options.definitions,
    log,
    keptChanges: options.keptChanges ?? defaultKeptChanges,
  });
}

/** Only the client of the database that is used is loaded. */
async function createBackend(options: StoreOptions, log: StoreLog): Promise<SqlBackend> {
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
