import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { backgroundStore } from '../../boot/config/background-store.ts';
import { AcmeRecords } from '../../plugins/acme/records.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';
import { bundledRegistry } from '../declarative/declarative.fixture.ts';
import { insertRow, updateRow } from '../lookup/write-rows.ts';
import { type Store, StoreError } from '../store/store.ts';
import { authority, HybridRig, sharedSettings, type TestControlPlane } from './hybrid-rig.fixture.ts';

after(() => authority[Symbol.dispose]());

let entities: EntityRegistry;
before(async () => {
  entities = await bundledRegistry();
});

async function start(rig: HybridRig, dataPlanes = 1): Promise<{ control: TestControlPlane; stores: readonly Store[] }> {
  const control = await rig.controlPlane({ entities });
  const settings = sharedSettings([control.address]);
  const stores = Array.from({ length: dataPlanes }, () => rig.dataPlane(settings, { entities }).store);
  return { control, stores };
}

function insert(store: Store, entity: string, fields: Readonly<Record<string, unknown>>) {
  const definition = entities.byName(entity);
  assert.ok(definition !== undefined);
  return store.write((writer) => insertRow(writer, definition, fields, false));
}

test('data planes that increment the same value lose no increment', async () => {
  await using rig = new HybridRig();
  const { control, stores } = await start(rig, 3);
  await insert(control.store, 'acme_storage', { key: 'counter', value: '0' });
  const definition = entities.byName('acme_storage');
  assert.ok(definition !== undefined);
  const increment = (store: Store) =>
    store.write(async (writer) => {
      const row = await writer.findBy('acme_storage', 'key', 'counter');
      assert.ok(row !== null);
      await updateRow(writer, definition, row.id, { value: String(Number(row['value']) + 1) }, false);
    });
  await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => increment(store))));
  assert.equal((await control.store.findBy('acme_storage', 'key', 'counter'))?.['value'], '60');
});

test('of many data planes that claim the same thing, exactly one has it', async () => {
  await using rig = new HybridRig();
  const { stores } = await start(rig, 4);
  const records = stores.map(
    (store) =>
      new AcmeRecords(
        backgroundStore({ store, shared: true, entities, hashKeys: false, published: async () => {} }),
        randomUUID(),
      ),
  );
  const claims = await Promise.all(
    [...records, ...records].map((one) => one.claim({ host: 'a.test', manual: false, due: () => false })),
  );
  assert.deepEqual(claims.map(({ kind }) => kind).sort(), [
    'busy',
    'busy',
    'busy',
    'busy',
    'busy',
    'busy',
    'busy',
    'claimed',
  ]);
});

test('of many data planes that delete a row, exactly one did', async () => {
  await using rig = new HybridRig();
  const { control, stores } = await start(rig, 3);
  const { result } = await insert(control.store, 'acme_storage', { key: 'code', value: 'x' });
  const outcomes = await Promise.all(
    [...stores, ...stores].map((store) => store.write((writer) => writer.delete('acme_storage', result.id))),
  );
  assert.equal(outcomes.filter((outcome) => outcome.result).length, 1);
});

test('a row that is read and does not exist yet is read again at the commit', async () => {
  await using rig = new HybridRig();
  const { control, stores } = await start(rig);
  const [store] = stores;
  assert.ok(store !== undefined);
  let runs = 0;
  const { result } = await store.write(async (writer) => {
    runs++;
    const found = await writer.findBy('acme_storage', 'key', 'k');
    if (runs === 1) await insert(control.store, 'acme_storage', { key: 'k', value: 'theirs' });
    await writer.insert('acme_storage', {
      id: randomUUID(),
      created_at: writer.now,
      key: `after-${runs}`,
      value: 'x',
      expires_at: null,
    });
    return found?.['value'] ?? null;
  });
  assert.deepEqual([runs, result], [2, 'theirs']);
  assert.equal(await control.store.findBy('acme_storage', 'key', 'after-1'), null);
});

test('an unusable value crosses the link as the store reports it', async () => {
  await using rig = new HybridRig();
  const { control, stores } = await start(rig);
  const [store] = stores;
  assert.ok(store !== undefined);
  await insert(control.store, 'acme_storage', { key: 'k', value: 'x' });
  await assert.rejects(insert(store, 'acme_storage', { key: 'k', value: 'y' }), (error) => {
    assert.ok(error instanceof StoreError);
    assert.deepEqual(error.detail, { kind: 'unique', entity: 'acme_storage', fields: { key: 'k' } });
    return true;
  });
});

test('ACME on a data plane stores its certificate, and changes no other', async () => {
  await using rig = new HybridRig();
  const { control, stores } = await start(rig);
  const [store] = stores;
  assert.ok(store !== undefined);
  const { cert, key } = authority.issue('a.test');
  const records = new AcmeRecords(
    backgroundStore({ store, shared: true, entities, hashKeys: false, published: async () => {} }),
    randomUUID(),
  );
  const claim = await records.claim({ host: 'a.test', manual: false, due: () => false });
  assert.ok(claim.kind === 'claimed');
  assert.equal(await records.save('a.test', claim.lease, { cert, key }), 'saved');
  const sni = await control.store.findBy('snis', 'name', 'a.test');
  assert.ok(sni !== null);
  const { result: theirs } = await insert(control.store, 'certificates', { cert, key });
  for (const forbidden of [
    () => store.write((writer) => writer.update('certificates', { ...theirs, tags: ['managed-by-acme'] })),
    () => store.write((writer) => writer.delete('certificates', theirs.id)),
    () => store.write((writer) => writer.delete('snis', sni.id)),
    () => insert(store, 'certificates', { cert, key }),
    () => insert(store, 'snis', { name: 'b.test', certificate: { id: theirs.id } }),
  ]) {
    await assert.rejects(forbidden(), TypeError);
  }
  assert.deepEqual(await control.store.get('certificates', theirs.id), theirs);
});

test('a data plane writes no config, no admin users and no rows that are not valid', async () => {
  await using rig = new HybridRig();
  const { control, stores } = await start(rig);
  const [store] = stores;
  assert.ok(store !== undefined);
  const { version } = await insert(control.store, 'consumers', { username: 'ada' });
  const row = (fields: Readonly<Record<string, unknown>>) => ({ id: randomUUID(), created_at: 1, ...fields });
  for (const [entity, fields] of [
    ['consumers', { username: 'eve' }],
    ['services', { name: 's', host: 'h' }],
    ['plugins', { name: 'pre-function' }],
    ['admin_users', { name: 'root' }],
    ['admin_tokens', {}],
    ['keyauth_credentials', { key: 'k' }],
    ['acme_storage', { key: 5 }],
    ['acme_storage', { value: 'no key' }],
    ['changes', {}],
    ['health_marks', { node: 'n', upstream: 'u', target: 't', health: 'unhealthy' }],
    ['node_messages', { sender: 's', plugin: '@log-level', text: '{"level":"debug"}' }],
  ] as const) {
    await assert.rejects(
      store.write((writer) => writer.insert(entity, row(fields))),
      (error) => error instanceof TypeError && !/undefined/.test(error.message),
      entity,
    );
  }
  for (const read of [
    () => store.get('admin_users', 'x'),
    () => store.findBy('admin_tokens', 'id', 'x'),
    () => store.list('admin_users', { limit: 1 }),
    () => store.count('admin_users'),
    () => store.write((writer) => writer.list('admin_tokens', { limit: 1 })),
    () => store.noteUse('consumers', 'x', 'custom_id', 'y'),
    () => store.noteUse('certificates', 'x', 'key', 'y'),
  ]) {
    await assert.rejects(read(), /a data plane must not/);
  }
  for (const unsupported of [
    () => store.listAudit({ limit: 1 }),
    () => store.listVersions({ limit: 1 }),
    () => store.rowsBetween(1, null),
    () => store.write((writer) => writer.writeRows([])),
    () => store.write((writer) => writer.audit([])),
    () => store.dump(['consumers']),
  ]) {
    await assert.rejects(unsupported(), TypeError);
  }
  assert.equal(await control.store.version(), version);
});
