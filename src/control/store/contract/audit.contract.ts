import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AuditRecord, RowChange } from '../audit.ts';
import { testRow } from '../store.fixture.ts';
import type { Store } from '../store.ts';
import { insertRow, type StoreBench } from './store-bench.ts';

let made = 0;

function recordAt(createdAt: number, fields: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id: `r${String(++made).padStart(6, '0')}`,
    createdAt,
    actor: 'anonymous',
    method: 'POST',
    entity: null,
    entityId: null,
    requestId: 'abc',
    body: { path: '/x', nested: { list: [1, 'ä', '\n'] } },
    ...fields,
  };
}

async function keep(store: Store, records: readonly AuditRecord[]): Promise<void> {
  await store.write((writer) => writer.audit(records));
}

async function changesOf(store: Store, work: Parameters<Store['write']>[0]): Promise<readonly RowChange[]> {
  const { result } = await store.write(async (writer) => {
    await work(writer);
    return [...writer.changes];
  });
  return result;
}

export function registerAuditTests(bench: StoreBench): void {
  it('returns records unchanged', async () => {
    const store = await bench.fresh();
    const record = recordAt(5, { entity: 'services', entityId: 'id', actor: 'admin-token' });
    await keep(store, [record]);
    assert.deepEqual(await store.getAudit(record.id), record);
    assert.equal(await store.getAudit('nobody'), null);
    assert.deepEqual(await store.listAudit({ limit: 10 }), [record]);
  });

  it('stores a record with the change or not at all, and not as a change', async () => {
    const store = await bench.fresh();
    const before = await store.version();
    await keep(store, [recordAt(1)]);
    assert.equal(await store.version(), before);
    await store.write(async (writer) => {
      await writer.insert('services', testRow({ name: 'a' }));
      await writer.audit([recordAt(2)]);
    });
    assert.equal(await store.version(), before + 1);
    const twice = recordAt(3);
    await assert.rejects(
      store.write(async (writer) => {
        await writer.insert('services', testRow({ name: 'b' }));
        await writer.audit([twice, twice]);
      }),
    );
    assert.equal(await store.findBy('services', 'name', 'b'), null);
    await assert.rejects(
      store.write(async (writer) => {
        await writer.audit([recordAt(4)]);
        throw new Error('no');
      }),
    );
    assert.deepEqual(
      (await store.listAudit({ limit: 10 })).map((record) => record.createdAt),
      [1, 2],
    );
  });

  it('lists in both directions, in pages, with each filter', async () => {
    const store = await bench.fresh();
    const entityId = '5e8f8a5e-0000-4000-8000-000000000000';
    const records = [
      recordAt(10, { entity: 'services', entityId, method: 'POST', requestId: 'one' }),
      recordAt(10, { entity: 'routes', method: 'PATCH' }),
      recordAt(20, { entity: 'services', actor: 'admin-token', method: 'DELETE' }),
      recordAt(30, { method: 'PUT' }),
    ];
    await keep(store, records);
    const ids = async (query: Omit<Parameters<Store['listAudit']>[0], 'limit'>): Promise<readonly number[]> =>
      (await store.listAudit({ limit: 10, ...query })).map(({ id }) => records.findIndex((record) => record.id === id));
    assert.deepEqual(await ids({}), [0, 1, 2, 3]);
    assert.deepEqual(await ids({ order: 'desc' }), [3, 2, 1, 0]);
    assert.deepEqual(await ids({ skip: 1 }), [1, 2, 3]);
    const second = { createdAt: 10, id: records[1]?.id ?? '' };
    assert.deepEqual(await ids({ after: second }), [2, 3]);
    assert.deepEqual(await ids({ after: second, order: 'desc' }), [0]);
    assert.deepEqual(await ids({ createdBefore: 20, order: 'desc' }), [1, 0]);
    assert.deepEqual(await ids({ since: 20 }), [2, 3]);
    assert.deepEqual(await ids({ where: { entity: 'services' } }), [0, 2]);
    assert.deepEqual(await ids({ where: { entityId } }), [0]);
    assert.deepEqual(await ids({ where: { actor: 'admin-token' } }), [2]);
    assert.deepEqual(await ids({ where: { method: 'PUT' } }), [3]);
    assert.deepEqual(await ids({ where: { requestId: 'one', entity: 'routes' } }), []);
    // PostgreSQL refuses NUL.
    assert.deepEqual(await ids({ where: { entity: 'a\0' } }), []);
    assert.deepEqual(await ids({ where: { method: '\ud800' } }), []);
    assert.equal(await store.getAudit('a\0'), null);
  });

  it('keeps texts of any characters', async () => {
    const store = await bench.fresh();
    const record = recordAt(5, { body: { details: { query: { 'a\0': '\0', b: '\ud800' }, fields: ['\udfff\0'] } } });
    await keep(store, [record]);
    assert.deepEqual(await store.getAudit(record.id), record);
    assert.deepEqual(await store.listAudit({ limit: 10 }), [record]);
  });

  it('stamps a record without a change later than earlier records', async () => {
    const store = await bench.fresh();
    let last = 0;
    for (let made = 0; made < 20; made++) {
      const { result: now } = await store.write(async (writer) => {
        await writer.audit([recordAt(writer.now)]);
        return writer.now;
      });
      assert.ok(now > last, `${now} comes after ${last}`);
      last = now;
    }
    assert.equal(await store.version(), 0);
  });

  it('removes only older records', async () => {
    const store = await bench.fresh();
    await keep(
      store,
      Array.from({ length: 1500 }, (_, index) => recordAt(index)),
    );
    let removed = 0;
    for (;;) {
      const some = await store.deleteAudit(1400);
      if (some === 0) break;
      removed += some;
    }
    assert.equal(removed, 1400);
    assert.equal((await store.listAudit({ limit: 10 }))[0]?.createdAt, 1400);
  });

  it('reports what a transaction has changed: rows before and after, and cascades', async () => {
    const store = await bench.fresh();
    const consumer = await insertRow(store, 'consumers', testRow({ username: 'ada' }));
    const [updated] = await changesOf(store, (writer) => writer.update('consumers', { ...consumer, username: 'eva' }));
    assert.deepEqual(
      [updated?.operation, updated?.before?.['username'], updated?.after?.['username']],
      ['upsert', 'ada', 'eva'],
    );
    const token = testRow({ key: 'k', consumer: { id: consumer.id } });
    const [inserted] = await changesOf(store, (writer) => writer.insert('tokens', token));
    assert.deepEqual([inserted?.before, inserted?.after?.['key'], inserted?.cause], [null, 'k', 'asked']);
    await insertRow(store, 'grants', testRow({ token: { id: token.id } }));
    const deleted = await changesOf(store, (writer) => writer.delete('consumers', consumer.id));
    assert.deepEqual(
      deleted.map(({ entity, cause, root }) => [entity, cause, root === consumer.id]),
      [
        ['grants', 'cascade', true],
        ['tokens', 'cascade', true],
        ['consumers', 'asked', false],
      ],
    );
    assert.equal(deleted.at(-1)?.before?.['username'], 'eva');
    assert.deepEqual(await changesOf(store, (writer) => writer.delete('consumers', consumer.id)), []);
  });
}
