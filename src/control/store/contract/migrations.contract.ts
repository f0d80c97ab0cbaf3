import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import type { Migration } from '../sql/migrations/migration.ts';
import { laterMigrations } from '../sql/migrations/migrations.ts';
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

const addsTable: Migration = {
  name: '9001-extra',
  up: async (transaction) => {
    await transaction.schema.createTable('extra').addColumn('a', 'integer').execute();
  },
  finish: async (transaction) => {
    await transaction.schema.alterTable('extra').renameColumn('a', 'b').execute();
  },
};

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

  it('keeps what the version before writes to a table with more columns, until the upgrade is finished', async () => {
    const place = await bench.newPlace();
    const old = await openMigrated(bench, place, [plain, parents]);
    // One version at a time uses a file.
    if (old.kind === 'sqlite') {
      await openMigrated(bench, place, [grown, parents]);
      await assertStoreError(old.migrate(), { kind: 'newer-store', found: 'things.name' });
      return;
    }
    const parent = await insertRow(old, 'parents', testRow());
    const other = await insertRow(old, 'parents', testRow());
    const fields = { name: 'one', kind: null, parent: { id: parent.id }, rest: [1] };
    const one = await insertRow(old, 'things', testRow(fields));
    const two = await insertRow(old, 'things', testRow({ name: null, kind: 'k' }));
    const fresh = await openMigrated(bench, place, [grown, parents]);
    // A node of the version before starts, reads what it knows, and writes it.
    await old.migrate();
    const layout = await bench.migrations(place, [grown, parents]);
    assert.deepEqual((await layout.state())?.pending, ['entity things']);
    const both = async (id: string) => {
      const row = await fresh.get('things', id);
      assert.deepEqual(await old.get('things', id), row);
      return row;
    };
    assert.deepEqual(await fresh.findBy('things', 'name', 'one'), one);
    assert.equal((await both(one.id))?.['name'], 'one');
    await old.write((writer) => writer.update('things', { ...one, name: 'renamed', parent: { id: other.id } }));
    assert.equal((await fresh.findBy('things', 'name', 'renamed'))?.id, one.id);
    assert.equal((await fresh.list('things', { where: { parent: other.id }, limit: 10 })).length, 1);
    await fresh.write((writer) => writer.update('things', { ...two, name: 'two', parent: { id: other.id } }));
    assert.equal((await both(two.id))?.['name'], 'two');
    const three = await insertRow(fresh, 'things', testRow({ name: 'three', kind: 'x', parent: null }));
    assert.equal((await both(three.id))?.['name'], 'three');
    // Two rows exchange a unique value.
    const rows = await Promise.all([one.id, three.id].map((id) => fresh.get('things', id)));
    const [first, third] = rows;
    assert.ok(first && third);
    await fresh.write((writer) =>
      writer.writeRows([
        { entity: 'things', before: first, after: { ...first, name: 'three' } },
        { entity: 'things', before: third, after: { ...third, name: 'renamed' } },
      ]),
    );
    assert.equal((await fresh.findBy('things', 'name', 'three'))?.id, one.id);
    assert.equal((await both(three.id))?.['name'], 'renamed');
    const before = await fresh.list('things', { limit: 10 });
    assert.deepEqual(await layout.finish(), ['entity things']);
    assert.deepEqual(await layout.finish(), []);
    assert.deepEqual((await layout.state())?.pending, []);
    assert.deepEqual(await fresh.list('things', { limit: 10 }), before);
    await fresh.write((writer) => writer.update('things', { ...three, name: 'last' }));
    assert.equal((await fresh.findBy('things', 'name', 'last'))?.id, three.id);
    await assertStoreError(old.migrate(), { kind: 'newer-store', found: 'things.name' });
  });

  it('accepts a store of a later version until its upgrade is finished, and refuses it then', async () => {
    const place = await bench.newPlace();
    const later = [...laterMigrations, addsTable];
    const old = await openMigrated(bench, place, testDefinitions);
    const fresh = await bench.open(place, testDefinitions, { later });
    await fresh.migrate({ shared: true });
    await old.migrate();
    await Promise.all([old, fresh].map((store) => insertRow(store, 'services', testRow())));
    assert.equal(await old.count('services'), 2);
    const layout = await bench.migrations(place, testDefinitions, { later });
    assert.deepEqual((await layout.state())?.pending, ['9001-extra']);
    assert.deepEqual((await (await bench.migrations(place)).state())?.unknown, ['9001-extra']);
    assert.deepEqual(await layout.finish(), ['9001-extra']);
    assert.deepEqual(await layout.finish(), []);
    await fresh.migrate();
    await assertStoreError(old.migrate(), { kind: 'newer-store', found: '9001-extra' });
  });

  it('finishes an upgrade before the next one begins, and at once when no other version uses the store', async () => {
    const place = await bench.newPlace();
    const next: Migration = { name: '9002-next', up: async () => undefined, finish: async () => undefined };
    const first = await bench.open(place, testDefinitions, { later: [...laterMigrations, addsTable] });
    await first.migrate({ shared: true });
    const second = await bench.open(place, testDefinitions, { later: [...laterMigrations, addsTable, next] });
    await second.migrate({ shared: true });
    const layout = await bench.migrations(place, testDefinitions, { later: [...laterMigrations, addsTable, next] });
    assert.deepEqual((await layout.state())?.pending, ['9002-next']);
    await second.migrate({ shared: false });
    assert.deepEqual((await layout.state())?.pending, []);
  });

  it('shows the steps of a place without a store, and removes a store', async () => {
    const place = await bench.newPlace();
    const layout = await bench.migrations(place);
    assert.equal(await layout.state(), null);
    assert.equal(await layout.reset(), false);
    await layout.up();
    const state = await layout.state();
    assert.deepEqual([state?.pending, state?.fresh, state?.unknown], [[], [], []]);
    assert.ok(state?.executed.includes('0001-bookkeeping'));
    const store = await bench.open(place);
    const consumer = await insertRow(store, 'consumers', testRow());
    const token = await insertRow(store, 'tokens', testRow({ key: 'k', consumer: { id: consumer.id } }));
    await insertRow(store, 'grants', testRow({ token: { id: token.id } }));
    await store.close();
    assert.equal(await layout.reset(), true);
    assert.equal(await layout.state(), null);
    await layout.up();
    assert.equal(await (await bench.open(place)).count('tokens'), 0);
  });

  it('reports definitions that do not fit together', async () => {
    const orphan = await bench.open(await bench.newPlace(), [grown]);
    await assert.rejects(orphan.migrate(), /things\.parent refers to an unknown entity 'parents'/);
    const bad = await bench.open(await bench.newPlace(), [defineTestEntity({ name: 'changes' })]);
    await assert.rejects(bad.migrate(), /cannot be named 'changes'/);
  });
}
