import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { testRow } from '../store.fixture.ts';
import { assertStoreError, changesAfter, deleteRow, insertRow, type StoreBench } from './store-bench.ts';

export function registerConstraintTests(bench: StoreBench): void {
  it('refuses a second row with the same id', async () => {
    const store = await bench.fresh();
    const row = await insertRow(store, 'services', testRow({ name: 'a' }));
    await assertStoreError(insertRow(store, 'services', testRow({ id: row.id, name: 'a' })), {
      kind: 'primary-key',
      entity: 'services',
      id: row.id,
    });
  });

  it('refuses a second value of a unique field, in the order of the definition', async () => {
    const store = await bench.fresh();
    await insertRow(store, 'consumers', testRow({ username: 'bob', custom_id: '1' }));
    const both = insertRow(store, 'consumers', testRow({ username: 'bob', custom_id: '1' }));
    await assertStoreError(both, { kind: 'unique', entity: 'consumers', fields: { username: 'bob' } });
    const second = insertRow(store, 'consumers', testRow({ username: 'eve', custom_id: '1' }));
    await assertStoreError(second, { kind: 'unique', entity: 'consumers', fields: { custom_id: '1' } });
  });

  it('allows any number of rows with null in a unique field', async () => {
    const store = await bench.fresh();
    await insertRow(store, 'services', testRow());
    await insertRow(store, 'services', testRow({ name: null }));
    assert.equal(await store.count('services'), 2);
  });

  it('counts null as a value in fields that are unique together', async () => {
    const store = await bench.fresh();
    const service = await insertRow(store, 'services', testRow({ name: 's' }));
    const plugin = { name: 'cors', service: { id: service.id } };
    await insertRow(store, 'plugins', testRow(plugin));
    await insertRow(store, 'plugins', testRow({ name: 'cors' }));
    await insertRow(store, 'plugins', testRow({ ...plugin, name: 'other' }));
    await assertStoreError(insertRow(store, 'plugins', testRow(plugin)), {
      kind: 'unique',
      entity: 'plugins',
      fields: { name: 'cors', route: null, service: { id: service.id }, consumer: null },
    });
    await assertStoreError(insertRow(store, 'plugins', testRow({ name: 'cors' })), {
      kind: 'unique',
      entity: 'plugins',
      fields: { name: 'cors', route: null, service: null, consumer: null },
    });
  });

  it('lets an update keep its own unique values and refuses those of another row', async () => {
    const store = await bench.fresh();
    const a = await insertRow(store, 'services', testRow({ name: 'a' }));
    await insertRow(store, 'services', testRow({ name: 'b' }));
    await store.write((writer) => writer.update('services', { ...a, host: 'new' }));
    const taking = store.write((writer) => writer.update('services', { ...a, name: 'b' }));
    await assertStoreError(taking, { kind: 'unique', entity: 'services', fields: { name: 'b' } });
  });

  it('lets two rows of one transaction swap a name through null', async () => {
    const store = await bench.fresh();
    const a = await insertRow(store, 'services', testRow({ name: 'a' }));
    const b = await insertRow(store, 'services', testRow({ name: 'b' }));
    await store.write(async (writer) => {
      await writer.update('services', { ...a, name: null });
      await writer.update('services', { ...b, name: 'a' });
      await writer.update('services', { ...a, name: 'b' });
    });
    assert.equal((await store.findBy('services', 'name', 'a'))?.id, b.id);
  });

  it('refuses the second of two equal rows inserted concurrently in one transaction', async () => {
    const store = await bench.fresh();
    const both = store.write((writer) =>
      Promise.all([
        writer.insert('services', testRow({ name: 'a' })),
        writer.insert('services', testRow({ name: 'a' })),
      ]),
    );
    await assertStoreError(both, { kind: 'unique', entity: 'services', fields: { name: 'a' } });
  });

  it('lets exactly one of many simultaneous writers use a name', async () => {
    const store = await bench.fresh();
    const attempts = Array.from({ length: 10 }, () => insertRow(store, 'services', testRow({ name: 'only' })));
    const settled = await Promise.allSettled(attempts);
    assert.equal(settled.filter((attempt) => attempt.status === 'fulfilled').length, 1);
    assert.equal(await store.count('services'), 1);
  });

  it('refuses a reference to a missing row, on insert and on update', async () => {
    const store = await bench.fresh();
    const id = randomUUID();
    const detail = { kind: 'foreign-key', entity: 'routes', field: 'service', references: 'services', id } as const;
    await assertStoreError(insertRow(store, 'routes', testRow({ service: { id } })), detail);
    const route = await insertRow(store, 'routes', testRow());
    await assertStoreError(
      store.write((writer) => writer.update('routes', { ...route, service: { id } })),
      detail,
    );
  });

  it('reports a unique violation before a missing reference', async () => {
    const store = await bench.fresh();
    await insertRow(store, 'routes', testRow({ name: 'r' }));
    await assertStoreError(insertRow(store, 'routes', testRow({ name: 'r', service: { id: randomUUID() } })), {
      kind: 'unique',
      entity: 'routes',
      fields: { name: 'r' },
    });
  });

  it('refuses to delete a row with restricting references, and changes nothing', async () => {
    const store = await bench.fresh();
    const service = await insertRow(store, 'services', testRow());
    const route = await insertRow(store, 'routes', testRow({ service: { id: service.id } }));
    await insertRow(store, 'plugins', testRow({ name: 'cors', service: { id: service.id } }));
    await assertStoreError(deleteRow(store, 'services', service.id), {
      kind: 'referenced',
      entity: 'services',
      by: 'routes',
    });
    assert.equal(await store.count('plugins'), 1);
    await deleteRow(store, 'routes', route.id);
    assert.equal(await deleteRow(store, 'services', service.id), true);
    assert.equal(await store.count('plugins'), 0);
  });

  it('deletes through several levels of cascades and records each deletion, children first', async () => {
    const store = await bench.fresh();
    const consumer = await insertRow(store, 'consumers', testRow({ username: 'bob', tags: ['t'] }));
    const token = await insertRow(store, 'tokens', testRow({ key: 'k', consumer: { id: consumer.id }, tags: ['t'] }));
    const grant = await insertRow(store, 'grants', testRow({ token: { id: token.id }, tags: ['t'] }));
    const plugin = await insertRow(store, 'plugins', testRow({ name: 'cors', consumer: { id: consumer.id } }));
    const other = await insertRow(store, 'tokens', testRow({ key: 'other' }));
    const before = await store.position();
    await deleteRow(store, 'consumers', consumer.id);
    const changes = await changesAfter(store, before);
    assert.ok(changes.every((change) => change.operation === 'delete' && change.row === null));
    const ids = changes.map((change) => change.id);
    assert.deepEqual([...ids].sort(), [consumer.id, token.id, grant.id, plugin.id].sort());
    assert.ok(ids.indexOf(grant.id) < ids.indexOf(token.id));
    assert.equal(ids.at(-1), consumer.id);
    assert.deepEqual(
      (await store.list('tokens', { limit: 10 })).map((row) => row.id),
      [other.id],
    );
    assert.deepEqual(await store.listTags({ skip: 0, limit: 10 }), []);
  });

  it('deletes a parent of more children than one statement takes', async () => {
    const store = await bench.fresh();
    const upstream = await insertRow(store, 'upstreams', testRow({ name: 'u' }));
    await store.write(async (writer) => {
      for (let i = 0; i < 1200; i += 1) {
        await writer.insert('targets', testRow({ upstream: { id: upstream.id }, target: `10.0.0.1:${i}` }));
      }
    });
    const version = await store.version();
    assert.equal(await deleteRow(store, 'upstreams', upstream.id), true);
    assert.equal(await store.count('targets'), 0);
    assert.equal(await store.version(), version + 1201);
  });
}
