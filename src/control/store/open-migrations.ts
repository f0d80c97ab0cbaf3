import { createBackend, type StoreOptions } from './create-store.ts';
import type { NodesStore } from './nodes.ts';
import { createNodesStore } from './sql/node-rows.ts';
import { toEntityTables } from './sql/rows/entity-table.ts';
import { finishMigrations, type MigrationState, migrate, readMigrationState } from './sql/schema/migrate.ts';
import { isMissingTable } from './sql/schema/recorded-layout.ts';
import { resetStore } from './sql/schema/reset.ts';

export type { MigrationState };

/** The layout of a store, for the command line. Each step is one transaction. */
export interface Migrations {
  /** Changes nothing. Null: the database has no store yet. */
  state(): Promise<MigrationState | null>;
  /** The additive part of all new steps. */
  up(): Promise<void>;
  /** The rest of those steps; returns their names. */
  finish(): Promise<readonly string[]>;
  /** Deletes the store with all its data. False: there was none. */
  reset(): Promise<boolean>;
  /** The nodes that report in the store; none in a store without them. */
  nodes(): ReturnType<NodesStore['readNodes']>;
  close(): Promise<void>;
}

export async function openMigrations(options: StoreOptions): Promise<Migrations> {
  const backend = await createBackend(options, options.log ?? { info: () => undefined, warn: () => undefined });
  const layout = { tables: toEntityTables(options.definitions), later: options.later };
  return {
    state: () => readMigrationState(backend, layout),
    up: () => migrate(backend, { ...layout, shared: true }),
    finish: () => finishMigrations(backend, layout),
    reset: () => resetStore(backend),
    nodes: async () => {
      try {
        return await createNodesStore(backend).readNodes();
      } catch (error) {
        if (isMissingTable(error)) return { now: 0, nodes: [] };
        throw error;
      }
    },
    close: () => backend.close(),
  };
}
