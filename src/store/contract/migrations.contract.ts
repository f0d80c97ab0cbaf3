import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EntityDefinition } from '../../entities/entity.ts';
import { defineTestEntity, testDefinitions, testRow } from '../store.fixtures.ts';
import { assertStoreError, insertRow, type StoreBench } from './store-bench.ts';

const plain = defineTestEntity({ name: 'things' });
const parents = defineTestEntity({ name: 'parents' });
const grown = defineTestEntity({
  name: 'things',
  endpointKey: 'name',
  unique: ['name'],
  uniqueTogether: [['kind', 'parent']],
  foreign: { parent: { entity: 'parents', onDelete: 'cascade' } },
});

async function openMigrated(bench: StoreBench, place: string, definitions: readonly EntityDefinition[]) {
  const store = await bench.open(place, definitions);
  await store.migrate();
  return store;
}

export function registerMigrationTests(bench: StoreBench): void {
  it('keeps everything when it migrates again', async () => {
    const place = await bench.newPlace();
    const first = await openMigrated(bench, place, testDefinitions);
    const row = await insertRow(first, 'services', testRow({ name: 'a' }));
    await first.migrate();
    const second = await openMigrated(bench, place, testDefinitions);
    assert.deepEqual(await second.get('services', row.id), row);
    assert.equal(await second.version(), 1);
  });

  it('lets several nodes migrate a new store at once', async () => {
    const place = await bench.newPlace();
    const nodes = await Promise.all(Array.from({ length: 4 }, () => bench.open(place)));
    await Promise.all(nodes.map((node) => node.migrate()));
    await Promise.all(nodes.map((node) => insertRow(node, 'services', testRow())));
    assert.equal(await nodes[0]?.count('services'), 4);
  });

  it('adds the tables of definitions that come later, and leaves those of definitions that are gone', async () => {
    const place = await bench.newPlace();
    const first = await openMigrated(bench, place, [plain]);
    const thing = await insertRow(first, 'things', testRow({ a: 1 }));
    const second = await openMigrated(bench, place, [parents]);
    await insertRow(second, 'parents', testRow());
    const third = await openMigrated(bench, place, [plain, parents]);
    assert.deepEqual(await third.get('things', thing.id), thing);
    assert.equal(await third.count('parents'), 1);
  });

  it('moves values into the columns that a definition has gained, and enforces them', async () => {
    const place = await bench.newPlace();
    const first = await openMigrated(bench, place, [plain, parents]);
    const parent = await insertRow(first, 'parents', testRow());
    const fields = { name: 'n', kind: 'k', parent: { id: parent.id }, rest: [1] };
    const thing = await insertRow(first, 'things', testRow(fields));
    await insertRow(first, 'things', testRow({ name: null, kind: 'other' }));
    const second = await openMigrated(bench, place, [grown, parents]);
    assert.deepEqual(await second.findBy('things', 'name', 'n'), thing);
    assert.deepEqual(await second.list('things', { where: { parent: parent.id }, limit: 10 }), [thing]);
    await assertStoreError(insertRow(second, 'things', testRow({ name: 'n' })), {
      kind: 'unique',
      entity: 'things',
      fields: { name: 'n' },
    });
    await assertStoreError(insertRow(second, 'things', testRow({ kind: 'other' })), {
      kind: 'unique',
      entity: 'things',
      fields: { kind: 'other', parent: null },
    });
    await second.write((writer) => writer.delete('parents', parent.id));
    assert.equal(await second.count('things'), 1);
  });

  it('refuses a store whose tables know more than the definitions', async () => {
    const place = await bench.newPlace();
    await openMigrated(bench, place, [grown, parents]);
    const older = await bench.open(place, [plain, parents]);
    await assertStoreError(older.migrate(), { kind: 'newer-store', found: 'things.name' });
  });

  it('says in plain words what is wrong with definitions that do not fit together', async () => {
    const orphan = await bench.open(await bench.newPlace(), [grown]);
    await assert.rejects(orphan.migrate(), /things\.parent refers to an unknown entity 'parents'/);
    const bad = await bench.open(await bench.newPlace(), [defineTestEntity({ name: 'changes' })]);
    await assert.rejects(bad.migrate(), /cannot be named 'changes'/);
  });
}
