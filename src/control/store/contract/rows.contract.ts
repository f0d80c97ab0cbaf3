import assert from 'node:assert/strict';
import { it } from 'node:test';
import { testRow } from '../store.fixture.ts';
import { assertStoreError, deleteRow, insertRow, type StoreBench } from './store-bench.ts';

export function registerRowTests(bench: StoreBench): void {
  it('returns every kind of value as it was inserted', async () => {
    const store = await bench.fresh();
    const row = testRow({
      name: 'sörvice "☂" \'; drop table services; --',
      path: null,
      retries: 5,
      ratio: 0.1,
      big: 9007199254740991,
      enabled: false,
      empty: '',
      tags: ['a b', 'ü'],
      nested: { list: [1, null, { deep: true }], map: {}, 'dotted.key': 'x' },
      text: 'line\nline\u0000\u2028\ud83d\ude00',
    });
    const stored = await insertRow(store, 'services', row);
    assert.deepEqual(stored, { ...row, created_at: stored.created_at, updated_at: stored.created_at });
    assert.deepEqual(await store.get('services', row.id), stored);
    assert.deepEqual(await store.findBy('services', 'name', String(row['name'])), stored);
  });

  it('shows unset unique and foreign fields as null', async () => {
    const store = await bench.fresh();
    const route = await insertRow(store, 'routes', testRow({ paths: ['/x'] }));
    assert.equal(route['name'], null);
    assert.equal(route['service'], null);
  });

  it('keeps a key named __proto__ as data', async () => {
    const store = await bench.fresh();
    const row = testRow({ headers: JSON.parse('{"__proto__": ["x"]}') });
    await insertRow(store, 'services', row);
    const found = await store.get('services', row.id);
    assert.equal(JSON.stringify(found?.['headers']), '{"__proto__":["x"]}');
  });

  it('finds nothing for an unknown id, an unknown value, or one with NUL', async () => {
    const store = await bench.fresh();
    assert.equal(await store.get('services', 'not-a-uuid'), null);
    assert.equal(await store.get('services', '\0'), null);
    assert.equal(await store.findBy('services', 'name', 'nobody'), null);
    assert.equal(await store.findBy('services', 'name', 'a\0b'), null);
  });

  it('refuses to look up by a field that has no column', async () => {
    const store = await bench.fresh();
    await assert.rejects(store.findBy('services', 'host', 'x'), TypeError);
    await assert.rejects(store.list('services', { where: { host: 'x' }, limit: 1 }), TypeError);
    await assert.rejects(store.get('unheard_of', 'x'), TypeError);
  });

  it('refuses values that one of the databases could not store, and changes nothing', async () => {
    const store = await bench.fresh();
    const bad = [{ name: 'a\0b' }, { id: '\0' }, { name: 5 }, { created_at: 2 ** 60 }, { created_at: 0.5 }];
    for (const fields of bad) {
      const insert = insertRow(store, 'services', testRow(fields), { keepCreatedAt: true });
      await assert.rejects(insert, TypeError);
    }
    for (const service of ['id', {}, { id: 'a\0' }]) {
      await assert.rejects(insertRow(store, 'routes', testRow({ service })), TypeError);
    }
    assert.equal(await store.version(), 0);
  });

  it('compares values by bytes: case and accents count', async () => {
    const store = await bench.fresh();
    await insertRow(store, 'services', testRow({ name: 'users' }));
    await insertRow(store, 'services', testRow({ name: 'Users' }));
    assert.equal((await store.findBy('services', 'name', 'Users'))?.['name'], 'Users');
    assert.equal(await store.findBy('services', 'name', 'USERS'), null);
  });

  it('replaces the whole row on update and keeps its created_at', async () => {
    const store = await bench.fresh();
    const before = await insertRow(store, 'services', testRow({ name: 'a', host: 'h', path: '/x', tags: ['t'] }));
    const { result } = await store.write((writer) =>
      writer.update('services', { id: before.id, created_at: before.created_at, name: 'b', host: 'h' }),
    );
    assert.ok(Number(result['updated_at']) > before.created_at);
    assert.deepEqual(result, {
      id: before.id,
      created_at: before.created_at,
      updated_at: result['updated_at'],
      name: 'b',
      host: 'h',
    });
    assert.deepEqual(await store.get('services', before.id), result);
    assert.equal(await store.findBy('services', 'name', 'a'), null);
    assert.deepEqual(await store.listTags({ skip: 0, limit: 10 }), []);
  });

  it('renews created_at on update only when requested', async () => {
    const store = await bench.fresh();
    const before = await insertRow(store, 'services', testRow({ name: 'a' }));
    const { result } = await store.write(async (writer) => {
      const row = await writer.update('services', before, { renewCreatedAt: true });
      assert.equal(row.created_at, writer.now);
      return row;
    });
    assert.ok(result.created_at > before.created_at);
  });

  it('refuses to update a missing row', async () => {
    const store = await bench.fresh();
    const row = testRow({ name: 'a' });
    await assertStoreError(
      store.write((writer) => writer.update('services', row)),
      { kind: 'not-found', entity: 'services', id: row.id },
    );
  });

  it('has no updated_at where the definition has none', async () => {
    const store = await bench.fresh();
    const token = await insertRow(store, 'tokens', testRow({ key: 'k', updated_at: 5 }));
    assert.equal('updated_at' in token, false);
  });

  it('keeps a given created_at, and stamps the others strictly later than every transaction before', async () => {
    const store = await bench.fresh();
    const given = await insertRow(store, 'services', testRow({ created_at: 1_000 }), { keepCreatedAt: true });
    assert.equal(given.created_at, 1_000);
    let last = 0;
    for (let i = 0; i < 20; i += 1) {
      const { created_at } = await insertRow(store, 'services', testRow());
      assert.ok(created_at > last);
      last = created_at;
    }
  });

  it('deletes once, and reports whether there was a row', async () => {
    const store = await bench.fresh();
    const row = await insertRow(store, 'services', testRow({ name: 'a' }));
    assert.equal(await deleteRow(store, 'services', row.id), true);
    assert.equal(await deleteRow(store, 'services', row.id), false);
    assert.equal(await store.get('services', row.id), null);
  });

  it('shows a transaction its own writes, and no other reader before the commit', async () => {
    const store = await bench.fresh();
    const row = testRow({ name: 'a' });
    await store.write(async (writer) => {
      await writer.insert('services', row);
      assert.equal((await writer.findBy('services', 'name', 'a'))?.id, row.id);
      assert.equal(await writer.count('services'), 1);
      assert.equal(await store.get('services', row.id), null);
      assert.equal((await store.dump(['services'])).entities['services']?.length, 0);
    });
    assert.equal(await store.count('services'), 1);
  });

  it('writes nothing when the work of a transaction throws', async () => {
    const store = await bench.fresh();
    const version = await store.version();
    const failing = store.write(async (writer) => {
      await writer.insert('services', testRow({ name: 'a', tags: ['t'] }));
      throw new Error('changed my mind');
    });
    await assert.rejects(failing, /changed my mind/);
    assert.equal(await store.count('services'), 0);
    assert.equal(await store.version(), version);
    assert.deepEqual(await store.listTags({ skip: 0, limit: 10 }), []);
  });

  it('writes nothing when an operation failed, even if the work continues', async () => {
    const store = await bench.fresh();
    await insertRow(store, 'services', testRow({ name: 'a' }));
    const swallowing = store.write(async (writer) => {
      await writer.insert('services', testRow({ name: 'b' }));
      await writer.insert('services', testRow({ name: 'a' })).catch(() => undefined);
      return 'done';
    });
    await assertStoreError(swallowing, { kind: 'unique', entity: 'services', fields: { name: 'a' } });
    assert.equal(await store.count('services'), 1);
  });

  it('loses no update when many transactions read and then write the same row', async () => {
    const store = await bench.fresh();
    const row = await insertRow(store, 'services', testRow({ name: 'counter', counted: 0 }));
    const increment = (): Promise<unknown> =>
      store.write(async (writer) => {
        const found = await writer.get('services', row.id);
        assert.ok(found);
        await writer.update('services', { ...found, counted: Number(found['counted']) + 1 });
      });
    await Promise.all(Array.from({ length: 20 }, increment));
    assert.equal((await store.get('services', row.id))?.['counted'], 20);
  });
}
