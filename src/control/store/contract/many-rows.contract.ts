import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Row } from '../../../shared/entities/entity.ts';
import { testRow } from '../store.fixture.ts';
import type { RowWrite, Store } from '../store.ts';
import { changesAfter, insertRow, type StoreBench } from './store-bench.ts';

const created = (entity: string, after: Row): RowWrite => ({ entity, before: null, after });
const deleted = (entity: string, before: Row): RowWrite => ({ entity, before, after: null });
const changed = (entity: string, before: Row, fields: object): RowWrite => ({
  entity,
  before,
  after: { ...before, ...fields },
});

async function writeAll(store: Store, writes: readonly RowWrite[]): Promise<number> {
  const { version } = await store.write((writer) => writer.writeRows(writes));
  return version;
}

const names = async (store: Store, entity: string): Promise<readonly unknown[]> =>
  (await store.list(entity, { limit: 10_000 })).map((row) => row['name']).sort();

function withoutTime({ updated_at: _, ...row }: Row) {
  return row;
}

export function registerManyRowsTests(bench: StoreBench): void {
  it('inserts, replaces and deletes many rows in any order, and records each change once', async () => {
    const store = await bench.fresh();
    const old = await insertRow(store, 'services', testRow({ name: 'old', tags: ['a'] }));
    const kept = await insertRow(store, 'services', testRow({ name: 'kept', tags: ['a'], retries: 1 }));
    const before = await store.position();
    const fresh = Array.from({ length: 1200 }, (_, i) => testRow({ name: `s${i}`, tags: ['a', 'b'], created_at: 7 }));
    const routes = fresh.map((service) => testRow({ name: `r-${service['name']}`, service: { id: service.id } }));
    await writeAll(store, [
      deleted('services', old),
      ...routes.map((row) => created('routes', row)),
      changed('services', kept, { retries: 2, tags: ['c'] }),
      ...fresh.map((row) => created('services', row)),
    ]);
    assert.equal(await store.count('services'), 1201);
    assert.equal(await store.count('routes'), 1200);
    const stored = await store.get('services', kept.id);
    assert.equal(stored?.['retries'], 2);
    assert.equal(stored?.created_at, kept.created_at);
    assert.ok(Number(stored?.['updated_at']) > Number(kept['updated_at']));
    assert.equal((await store.get('services', fresh[0]?.id ?? ''))?.created_at, 7);
    const tagged = await store.listTags({ tag: 'c', skip: 0, limit: 10 });
    assert.deepEqual(tagged, [{ entityName: 'services', entityId: kept.id, tag: 'c' }]);
    assert.equal((await store.listTags({ tag: 'a', skip: 0, limit: 10_000 })).length, 1200);
    const changes = await changesAfter(store, before, 10_000);
    assert.equal(changes.length, 2402);
    assert.equal(new Set(changes.map(({ id }) => id)).size, 2402);
  });

  it('replaces many rows, in whichever fields they change', async () => {
    const store = await bench.fresh();
    const rows = Array.from({ length: 1200 }, (_, i) => testRow({ name: `s${i}`, retries: 1 }));
    await writeAll(
      store,
      rows.map((row) => created('services', row)),
    );
    const steps = [{ retries: 2 }, { retries: 3 }, (i: number) => ({ retries: 4, name: `t${i}` }), { retries: 5 }];
    for (const step of steps) {
      const before = await store.list('services', { limit: 2000 });
      const writes = before.map((row, i) => changed('services', row, typeof step === 'function' ? step(i) : step));
      await writeAll(store, writes);
      const after = await store.list('services', { limit: 2000 });
      const wanted = writes.flatMap(({ after: row }) => row ?? []);
      assert.deepEqual(after.map(withoutTime), wanted.map(withoutTime));
    }
  });

  it('lets rows exchange unique values, also with rows that are new or deleted', async () => {
    const store = await bench.fresh();
    const a = await insertRow(store, 'services', testRow({ name: 'a' }));
    const b = await insertRow(store, 'services', testRow({ name: 'b' }));
    const c = await insertRow(store, 'services', testRow({ name: 'c' }));
    const plugin = await insertRow(store, 'plugins', testRow({ name: 'cors', service: { id: a.id } }));
    await writeAll(store, [
      created('services', testRow({ name: 'c' })),
      changed('services', a, { name: 'b' }),
      changed('services', b, { name: 'a' }),
      deleted('services', c),
      created('plugins', testRow({ name: 'cors', service: { id: a.id } })),
      deleted('plugins', plugin),
    ]);
    assert.deepEqual(await names(store, 'services'), ['a', 'b', 'c']);
    assert.equal((await store.get('services', a.id))?.['name'], 'b');
    assert.equal(await store.get('services', c.id), null);
    assert.equal(await store.count('plugins'), 1);
  });

  it('lets rows exchange a parent under which their value is unique', async () => {
    const store = await bench.fresh();
    const one = await insertRow(store, 'upstreams', testRow({ name: 'one' }));
    const two = await insertRow(store, 'upstreams', testRow({ name: 'two' }));
    const a = await insertRow(store, 'targets', testRow({ target: 'same:80', upstream: { id: one.id } }));
    const b = await insertRow(store, 'targets', testRow({ target: 'same:80', upstream: { id: two.id } }));
    await writeAll(store, [
      changed('targets', a, { upstream: { id: two.id } }),
      changed('targets', b, { upstream: { id: one.id } }),
    ]);
    const stored = await Promise.all([a, b].map(({ id }) => store.get('targets', id)));
    assert.deepEqual(
      stored.map((row) => [row?.['target'], row?.['upstream']]),
      [
        ['same:80', { id: two.id }],
        ['same:80', { id: one.id }],
      ],
    );
  });

  it('moves rows from a parent that is deleted to one that is new', async () => {
    const store = await bench.fresh();
    const service = await insertRow(store, 'services', testRow({ name: 'old' }));
    const route = await insertRow(store, 'routes', testRow({ name: 'r', service: { id: service.id } }));
    const plugin = await insertRow(store, 'plugins', testRow({ name: 'cors', service: { id: service.id } }));
    const fresh = testRow({ name: 'new' });
    await writeAll(store, [
      deleted('services', service),
      changed('plugins', plugin, { service: { id: fresh.id } }),
      changed('routes', route, { service: { id: fresh.id } }),
      created('services', fresh),
    ]);
    assert.deepEqual(await names(store, 'services'), ['new']);
    assert.deepEqual((await store.get('routes', route.id))?.['service'], { id: fresh.id });
    assert.deepEqual((await store.get('plugins', plugin.id))?.['service'], { id: fresh.id });
  });

  it('records what a deletion takes with it', async () => {
    const store = await bench.fresh();
    const consumer = await insertRow(store, 'consumers', testRow({ username: 'ada' }));
    const token = await insertRow(store, 'tokens', testRow({ key: 'k', consumer: { id: consumer.id } }));
    const before = await store.position();
    await writeAll(store, [deleted('consumers', consumer)]);
    assert.deepEqual(
      (await changesAfter(store, before)).map(({ entity, id, operation }) => [entity, id, operation]),
      [
        ['tokens', token.id, 'delete'],
        ['consumers', consumer.id, 'delete'],
      ],
    );
  });

  it('changes nothing when one of the rows violates a constraint', async () => {
    const store = await bench.fresh();
    await insertRow(store, 'services', testRow({ name: 'a' }));
    const version = await store.version();
    const writes = ['b', 'a'].map((name) => created('services', testRow({ name })));
    await assert.rejects(writeAll(store, writes));
    assert.deepEqual(await names(store, 'services'), ['a']);
    assert.equal(await store.version(), version);
  });

  it('names the rows that changed after a position, those of the same transaction included', async () => {
    const store = await bench.fresh();
    const start = await store.position();
    const first = await insertRow(store, 'services', testRow({ name: 'a' }));
    const seen: unknown[] = [];
    const row = testRow({ name: 'b' });
    await Promise.all([
      store.write((writer) => writer.insert('services', row)),
      store.write(async (writer) => seen.push(await writer.changedSince(start))),
    ]);
    const changes = seen[0];
    assert.ok(Array.isArray(changes));
    assert.deepEqual(changes.map(({ id }) => id).sort(), [first.id, row.id].sort());
    const { result } = await store.write((writer) => writer.changedSince({ ...start, stamp: 'unknown', version: 1 }));
    assert.equal(result, 'rewritten');
  });
}
