import { afterEach, describe, it } from 'node:test';
import type { EntityDefinition } from '../../shared/entities/entity.ts';
import { registerAuditTests } from './contract/audit.contract.ts';
import { registerChangeTests } from './contract/changes.contract.ts';
import { registerConstraintTests } from './contract/constraints.contract.ts';
import { registerCounterTests } from './contract/counters.contract.ts';
import { registerHistoryTests } from './contract/history.contract.ts';
import { registerListTests } from './contract/lists.contract.ts';
import { registerManyRowsTests } from './contract/many-rows.contract.ts';
import { registerMigrationTests } from './contract/migrations.contract.ts';
import { registerNodeTests } from './contract/nodes.contract.ts';
import { registerRowTests } from './contract/rows.contract.ts';
import type { Backup, BenchOptions, StoreBench } from './contract/store-bench.ts';
import { registerUsageTests } from './contract/usage.contract.ts';
import { registerUseTests } from './contract/uses.contract.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { openMigrations } from './open-migrations.ts';
import { testDefinitions } from './store.fixture.ts';

type PlaceOptions = BenchOptions & { readonly definitions: readonly EntityDefinition[] };

/** What the contract suite needs of a database. */
export interface StorePlaces {
  /** Returns an unused place for a store: a file, a schema. */
  newPlace(): Promise<string>;
  /** Runs statements on the database of that place, not through the store, in one transaction. */
  execute(place: string, statements: readonly string[]): Promise<void>;
  /** The options that open the store in that place. */
  options(place: string, options: PlaceOptions): StoreOptions;
}

const parts = {
  rows: registerRowTests,
  'many rows': registerManyRowsTests,
  constraints: registerConstraintTests,
  lists: registerListTests,
  changes: registerChangeTests,
  counters: registerCounterTests,
  audit: registerAuditTests,
  history: registerHistoryTests,
  usage: registerUsageTests,
  nodes: registerNodeTests,
  uses: registerUseTests,
  migrations: registerMigrationTests,
};
export type StorePart = keyof typeof parts;
const partNames = Object.keys(parts) as readonly StorePart[];

/** The behaviour of every store, whichever database is under it. `parts`: default all. */
export function describeStore(
  name: string,
  places: StorePlaces,
  options: { readonly skip?: string | false; readonly parts?: readonly StorePart[] } = {},
): void {
  describe(name, { skip: options.skip ?? false }, () => {
    const opened: { close(): Promise<void> }[] = [];
    const bench: StoreBench = {
      newPlace: () => places.newPlace(),
      open: async (place, definitions = testDefinitions, options = {}) => {
        const store = await createStore(places.options(place, { ...options, definitions }));
        opened.push(store);
        return store;
      },
      migrations: async (place, definitions = testDefinitions, options = {}) => {
        const migrations = await openMigrations(places.options(place, { ...options, definitions }));
        opened.push(migrations);
        return migrations;
      },
      execute: (place, statements) => places.execute(place, statements),
      backUp: async (place, names) => {
        await places.execute(
          place,
          names.map((name) => `create table backup_${name} as select * from ${name}`),
        );
        return backupOf(places, place, names);
      },
      fresh: async () => {
        const store = await bench.open(await places.newPlace());
        await store.migrate();
        return store;
      },
    };
    afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));
    for (const name of options.parts ?? partNames) describe(name, () => parts[name](bench));
    it('answers a ping before and after it is migrated', async () => {
      const store = await bench.open(await places.newPlace());
      await store.ping();
      await store.migrate();
      await store.ping();
    });
  });
}

function backupOf(places: StorePlaces, place: string, names: readonly string[]): Backup {
  return {
    restore: () =>
      places.execute(
        place,
        names.flatMap((name) => [`delete from ${name}`, `insert into ${name} select * from backup_${name}`]),
      ),
  };
}
