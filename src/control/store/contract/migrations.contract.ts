import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import { defineTestEntity, testDefinitions, testRow } from '../store.fixture.ts';
import { assertStoreError, changesAfter, insertRow, type StoreBench } from './store-bench.ts';

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

  it('adds an identity to a store without one, and continues its history', async () => {
    const place = await bench.newPlace();
    const first = await openMigrated(bench, place, testDefinitions);
    for (const name of ['a', 'b']) await insertRow(first, 'services', testRow({ name }));
    await first.close();
    await bench.execute(place, [
      'alter table store_version drop column identity',
      'alter table store_version drop column stamp',
      'alter table changes drop column previous',
      "delete from schema_migrations where name = '0005-history'",
    ]);
    const running = await bench.open(place);
    await assertStoreError(running.position(), { kind: 'unavailable' });
    await assertStoreError(insertRow(running, 'services', testRow()), { kind: 'unavailable' });
    const second = await openMigrated(bench, place, testDefinitions);
    const upgraded = await second.position();
    assert.match(upgraded.store, /^[0-9a-f-]{36}$/);
    await insertRow(second, 'services', testRow({ name: 'c' }));
    assert.deepEqual(
      (await changesAfter(second, upgraded)).map(({ version }) => version),
      [3],
    );
    // As a node of the earlier version writes, during a rolling upgrade.
    await bench.execute(place, [
      "insert into changes (version, entity, entity_id, operation, at) values (4, 'services', 'x', 'delete', 1)",
      'update store_version set version = 4',
    ]);
    await insertRow(second, 'services', testRow({ name: 'd' }));
    assert.deepEqual(
      (await changesAfter(second, { ...upgraded, version: 1 })).map(({ version }) => version),
      [2, 3, 4, 5],
    );
    await second.migrate();
    assert.equal((await second.position()).store, upgraded.store);
  });

  it('lets several nodes migrate a new store at once', async () => {
    const place = await bench.newPlace();
    const nodes = await Promise.all(Array.from({ length: 4 }, () => bench.open(place)));
    await Promise.all(nodes.map((node) => node.migrate()));
    await Promise.all(nodes.map((node) => insertRow(node, 'services', testRow())));
    assert.equal(await nodes[0]?.count('services'), 4);
  });

  it('adds tables for new definitions, and keeps those of removed definitions', async () => {
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

  it('refuses a store whose tables have more than the definitions', async () => {
    const place = await bench.newPlace();
    await openMigrated(bench, place, [grown, parents]);
    const older = await bench.open(place, [plain, parents]);
    await assertStoreError(older.migrate(), { kind: 'newer-store', found: 'things.name' });
  });

  it('reports definitions that do not fit together', async () => {
    const orphan = await bench.open(await bench.newPlace(), [grown]);
    await assert.rejects(orphan.migrate(), /things\.parent refers to an unknown entity 'parents'/);
    const bad = await bench.open(await bench.newPlace(), [defineTestEntity({ name: 'changes' })]);
    await assert.rejects(bad.migrate(), /cannot be named 'changes'/);
  });
}
