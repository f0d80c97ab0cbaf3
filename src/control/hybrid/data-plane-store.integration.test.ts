import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe } from 'node:test';
import type { EntityDefinition } from '../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';
import { registerConstraintTests } from '../store/contract/constraints.contract.ts';
import { registerCounterTests } from '../store/contract/counters.contract.ts';
import { registerListTests } from '../store/contract/lists.contract.ts';
import { registerRowTests } from '../store/contract/rows.contract.ts';
import type { StoreBench } from '../store/contract/store-bench.ts';
import { registerUseTests } from '../store/contract/uses.contract.ts';
import { createStore } from '../store/create-store.ts';
import { testDefinitions } from '../store/store.fixture.ts';
import type { Store } from '../store/store.ts';
import { HybridRig, sharedSettings } from './hybrid-rig.fixture.ts';
import type { DataPlaneRights } from './server/data-plane-rights.ts';

/** The contract has entities of its own, whose rows no schema describes. */
const everything: DataPlaneRights = {
  of: () => ({ read: true, write: 'any', feed: 'row' }),
  admitted: (_definition, row) => row,
};

/** What the control plane does itself: the contract sees it in the store behind the link. */
const ofTheControlPlane: readonly (keyof Store)[] = [
  'version',
  'position',
  'changesSince',
  'dump',
  'listTags',
  'deleteExpiredCounters',
  'resetCounters',
];

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-link-contract-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function registryOf(definitions: readonly EntityDefinition[]): EntityRegistry {
  return {
    definitions,
    byName: (name) => definitions.find((definition) => definition.name === name),
    byPath: (path) => definitions.find((definition) => definition.path === path),
  };
}

/** The functions named come from `other`. */
function withFunctions(store: Store, names: readonly (keyof Store)[], other: Store): Store {
  return new Proxy(store, {
    get: (target, name) => Reflect.get(names.includes(name as keyof Store) ? other : target, name),
  });
}

describe('the store of a data plane', () => {
  let rig = new HybridRig();
  let places = 0;
  const bench: StoreBench = {
    newPlace: async () => join(folder, `place-${++places}.sqlite`),
    open: async (place, definitions = testDefinitions) => {
      const behind = await createStore({ kind: 'sqlite', file: place, definitions });
      await behind.migrate();
      rig.defer(() => behind.close());
      const entities = registryOf(definitions);
      const dump: Store['dump'] = (names) => behind.dump(names.filter((name) => entities.byName(name) !== undefined));
      const store = withFunctions(behind, ['dump'], { ...behind, dump });
      const control = await rig.controlPlane({ store, entities, rights: everything, settings: { timeout: 10_000 } });
      const data = rig.dataPlane(sharedSettings([control.address]), { entities });
      return withFunctions(data.store, ofTheControlPlane, behind);
    },
    fresh: async () => bench.open(await bench.newPlace()),
    migrations: () => Promise.reject(new Error('no test of these suites needs it')),
    execute: () => Promise.reject(new Error('no test of these suites needs it')),
    backUp: () => Promise.reject(new Error('no test of these suites needs it')),
  };
  afterEach(async () => {
    await rig[Symbol.asyncDispose]();
    rig = new HybridRig();
  });
  describe('rows', () => registerRowTests(bench));
  describe('constraints', () => registerConstraintTests(bench));
  describe('lists', () => registerListTests(bench));
  describe('counters', () => registerCounterTests(bench));
  describe('uses', () => registerUseTests(bench));
});
