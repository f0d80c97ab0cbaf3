import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Row } from '../../../shared/entities/entity.ts';
import { testRow } from '../store.fixture.ts';
import type { ListQuery, Store } from '../store.ts';
import { insertRow, type StoreBench } from './store-bench.ts';

const kept = { keepCreatedAt: true };

/** Rows at the instants 10, 20, 20, 20, 30, sorted as lists are. */
async function insertFive(store: Store): Promise<readonly Row[]> {
  const instants = [20, 10, 20, 30, 20];
  const { result } = await store.write((writer) =>
    Promise.all(instants.map((created_at) => writer.insert('services', testRow({ created_at }), kept))),
  );
  return [...result].sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

function idsOf(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map((row) => row.id);
}

async function walk(store: Store, entity: string, query: ListQuery): Promise<readonly string[]> {
  const ids: string[] = [];
  let page = await store.list(entity, query);
  while (page.length > 0) {
    ids.push(...idsOf(page));
    const last = page.at(-1);
    assert.ok(last);
    page = await store.list(entity, { ...query, after: { createdAt: last.created_at, id: last.id } });
  }
  return ids;
}

export function registerListTests(bench: StoreBench): void {
  it('orders by created_at, then by id, both ways', async () => {
    const store = await bench.fresh();
    const ids = idsOf(await insertFive(store));
    assert.deepEqual(idsOf(await store.list('services', { limit: 10 })), ids);
    assert.deepEqual(idsOf(await store.list('services', { limit: 10, order: 'desc' })), [...ids].reverse());
  });

  it('returns every row once with any page size, through rows of the same instant', async () => {
    const store = await bench.fresh();
    const ids = idsOf(await insertFive(store));
    for (const limit of [1, 2, 3, 5]) {
      assert.deepEqual(await walk(store, 'services', { limit }), ids);
      assert.deepEqual(await walk(store, 'services', { limit, order: 'desc' }), [...ids].reverse());
    }
  });

  it('cuts by an instant, and skips', async () => {
    const store = await bench.fresh();
    const ids = idsOf(await insertFive(store));
    const before = await store.list('services', { limit: 10, order: 'desc', createdBefore: 30 });
    assert.deepEqual(idsOf(before), ids.slice(0, 4).reverse());
    assert.deepEqual(idsOf(await store.list('services', { limit: 2, skip: 2 })), ids.slice(2, 4));
    assert.deepEqual(idsOf(await store.list('services', { limit: 2, skip: 9 })), []);
  });

  it('neither repeats nor skips a row while rows are inserted between the pages', async () => {
    const store = await bench.fresh();
    const inserted: string[] = [];
    const add = async (): Promise<void> => {
      inserted.push((await insertRow(store, 'services', testRow())).id);
    };
    for (let i = 0; i < 10; i += 1) await add();
    const seen: string[] = [];
    let page = await store.list('services', { limit: 3 });
    while (page.length > 0) {
      seen.push(...idsOf(page));
      if (inserted.length < 25) for (let i = 0; i < 2; i += 1) await add();
      const last = page.at(-1);
      assert.ok(last);
      page = await store.list('services', { limit: 3, after: { createdAt: last.created_at, id: last.id } });
    }
    assert.deepEqual(seen, inserted);
  });

  it('selects by a foreign field, by a plain column, by null, and by several at once', async () => {
    const store = await bench.fresh();
    const service = await insertRow(store, 'services', testRow());
    const upstream = await insertRow(store, 'upstreams', testRow());
    const target = await insertRow(store, 'targets', testRow({ upstream: { id: upstream.id }, target: 'a:1' }));
    await insertRow(store, 'targets', testRow({ upstream: { id: upstream.id }, target: 'b:1' }));
    const bound = await insertRow(store, 'routes', testRow({ service: { id: service.id } }));
    const loose = await insertRow(store, 'routes', testRow());
    const list = async (entity: string, where: NonNullable<ListQuery['where']>): Promise<readonly string[]> =>
      idsOf(await store.list(entity, { where, limit: 10 }));
    assert.deepEqual(await list('routes', { service: service.id }), [bound.id]);
    assert.deepEqual(await list('routes', { service: null }), [loose.id]);
    assert.deepEqual(await list('targets', { upstream: upstream.id, target: 'a:1' }), [target.id]);
    assert.deepEqual(await list('targets', { target: 'a:1\0' }), []);
    assert.deepEqual(await list('routes', { id: loose.id }), [loose.id]);
    assert.deepEqual(await list('routes', { id: [loose.id, bound.id, 'c'] }), [bound.id, loose.id]);
    assert.deepEqual(await list('routes', { service: [service.id] }), [bound.id]);
    assert.deepEqual(await list('routes', { id: [] }), []);
  });

  it('selects rows having all or any of some tags, each row once', async () => {
    const store = await bench.fresh();
    const insert = async (...tags: string[]): Promise<string> =>
      (await insertRow(store, 'services', testRow({ tags }))).id;
    const a = await insert('a');
    const ab = await insert('a', 'b', 'a');
    const b = await insert('b');
    await insert('c');
    await insertRow(store, 'consumers', testRow({ tags: ['a', 'b'] }));
    const list = async (all: boolean, ...names: string[]): Promise<readonly string[]> =>
      idsOf(await store.list('services', { tags: { all, names }, limit: 10 }));
    assert.deepEqual(await list(true, 'a'), [a, ab]);
    assert.deepEqual(await list(true, 'a', 'b'), [ab]);
    assert.deepEqual(await list(false, 'a', 'b'), [a, ab, b]);
    assert.deepEqual(await list(false, 'nowhere'), []);
    assert.deepEqual(await list(true), []);
    for (const limit of [1, 2]) {
      const any = { tags: { all: false, names: ['a', 'b'] }, limit };
      assert.deepEqual(await walk(store, 'services', any), [a, ab, b]);
      assert.deepEqual(await walk(store, 'services', { ...any, order: 'desc' }), [b, ab, a]);
    }
    const skipping = await store.list('services', { tags: { all: false, names: ['b', 'a'] }, skip: 1, limit: 1 });
    assert.deepEqual(idsOf(skipping), [ab]);
  });

  it('combines tags with a field', async () => {
    const store = await bench.fresh();
    const service = await insertRow(store, 'services', testRow());
    const wanted = await insertRow(store, 'routes', testRow({ service: { id: service.id }, tags: ['t'] }));
    await insertRow(store, 'routes', testRow({ tags: ['t'] }));
    await insertRow(store, 'routes', testRow({ service: { id: service.id } }));
    const found = await store.list('routes', {
      where: { service: service.id },
      tags: { all: false, names: ['t', 'u'] },
      limit: 10,
    });
    assert.deepEqual(idsOf(found), [wanted.id]);
  });

  it('follows tags and created_at through updates', async () => {
    const store = await bench.fresh();
    const first = await insertRow(store, 'services', testRow({ tags: ['t', 'old'] }));
    const second = await insertRow(store, 'services', testRow({ tags: ['t'] }));
    await store.write((writer) =>
      writer.update('services', { ...first, tags: ['t', 'new'] }, { renewCreatedAt: true }),
    );
    const list = async (name: string): Promise<readonly string[]> =>
      idsOf(await store.list('services', { tags: { all: true, names: [name] }, limit: 10 }));
    assert.deepEqual(await list('t'), [second.id, first.id]);
    assert.deepEqual(await list('old'), []);
    assert.deepEqual(await list('new'), [first.id]);
  });

  it('lists tags of all entities by pages, or one tag alone', async () => {
    const store = await bench.fresh();
    const service = await insertRow(store, 'services', testRow({ tags: ['b', 'a'] }));
    const consumer = await insertRow(store, 'consumers', testRow({ tags: ['b'] }));
    const all = [
      { entityName: 'services', entityId: service.id, tag: 'a' },
      { entityName: 'consumers', entityId: consumer.id, tag: 'b' },
      { entityName: 'services', entityId: service.id, tag: 'b' },
    ];
    assert.deepEqual(await store.listTags({ skip: 0, limit: 10 }), all);
    assert.deepEqual(await store.listTags({ skip: 1, limit: 1 }), all.slice(1, 2));
    assert.deepEqual(await store.listTags({ tag: 'b', skip: 0, limit: 10 }), all.slice(1));
    assert.deepEqual(await store.listTags({ tag: '\0', skip: 0, limit: 10 }), []);
  });
}
