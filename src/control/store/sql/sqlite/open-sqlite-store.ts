import type { Store } from '../../store.ts';
import { toEntityTables } from '../rows/entity-table.ts';
import type { SqlStoreOptions } from '../sql-store.ts';
import { createDeferredStore } from './deferred-store.ts';
import { closeConnections, openSqliteConnections } from './sqlite-connections.ts';
import { SqliteStart } from './sqlite-start.ts';

/** Throws a `StoreError` of kind `refused` when the file cannot be opened. */
export function openSqliteStore(file: string, options: SqlStoreOptions): Store {
  const connections = openSqliteConnections(file, options);
  return createDeferredStore({
    // Tests of upgrades bring migrations of their own.
    start: options.later === undefined ? new SqliteStart(connections, toEntityTables(options.definitions)) : null,
    load: async (seen) => {
      const [{ createSqliteBackend }, { createSqlStore }] = await Promise.all([
        import('./sqlite-backend.ts'),
        import('../sql-store.ts'),
      ]);
      return createSqlStore(createSqliteBackend(connections), { ...options, seen });
    },
    close: () => closeConnections(connections),
  });
}
