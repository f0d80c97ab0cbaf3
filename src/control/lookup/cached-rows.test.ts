import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../../shared/entities/entity.ts';
import type { Question } from '../../shared/lookup/calls.ts';
import { CachedRows, type QuestionBatch } from './cached-rows.ts';

const entity = 'keyauth_credentials';

function credential(id: string, key: string, more: Readonly<Record<string, unknown>> = {}): Row {
  return { id, created_at: 1, key, consumer: { id: 'c' }, ...more };
}

/** Cached rows in front of a store that the test changes. */
function rig(...rows: readonly Row[]) {
  const store = { rows: [...rows], unavailable: false, queries: 0, version: 1 };
  const find = ({ field, values }: QuestionBatch): readonly Row[] => {
    if (store.unavailable) throw new Error('away');
    store.queries += 1;
    return store.rows.filter((row) => {
      const value = row[field] as string | { id: string };
      return values.includes(typeof value === 'string' ? value : value.id);
    });
  };
  const cached = new CachedRows({
    path: '/nowhere',
    changed: () => {},
    query: async (question) => ({
      version: store.version,
      rows: find({ entity: question.entity, field: question.field, values: [question.value] }),
    }),
    queryMany: async (batch) => find(batch),
  });
  const byKey = async (key: string): Promise<readonly Row[]> =>
    cached.rows({ entity, field: 'key', value: key, many: false } satisfies Question);
  const ofConsumer = async (): Promise<readonly Row[]> =>
    cached.rows({ entity, field: 'consumer', value: 'c', many: true } satisfies Question);
  return { store, cached, byKey, ofConsumer };
}

test('answers that the store confirms survive its next outage, others are evicted', async () => {
  const { store, cached, byKey, ofConsumer } = rig(
    credential('1', 'same'),
    credential('2', 'gone'),
    credential('3', 'old'),
  );
  for (const key of ['same', 'gone', 'old', 'absent']) await byKey(key);
  assert.equal((await ofConsumer()).length, 3);
  store.rows = [credential('1', 'same'), credential('3', 'new'), credential('4', 'absent')];
  await cached.recheck();
  cached.discardUnchecked(2);
  store.unavailable = true;
  assert.deepEqual(await byKey('same'), [credential('1', 'same')]);
  assert.deepEqual(await ofConsumer(), store.rows);
  for (const key of ['gone', 'old', 'absent']) await assert.rejects(byKey(key), { message: 'away' }, key);
});

test('nothing is evicted when the store becomes unavailable during the comparison', async () => {
  const { store, cached, byKey } = rig(credential('1', 'k'));
  await byKey('k');
  store.unavailable = true;
  await assert.rejects(cached.recheck());
  assert.deepEqual(await byKey('k'), [credential('1', 'k')]);
});

test('many rows are compared with few queries', async () => {
  const rows = Array.from({ length: 1000 }, (_, at) => credential(`${at}`, `k${at}`));
  const { store, cached, byKey } = rig(...rows);
  for (const row of rows) await byKey(String(row['key']));
  store.queries = 0;
  await cached.recheck();
  assert.equal(store.queries, 5);
});

test('an answer in flight during the comparison is requested again', async () => {
  const { store, cached, byKey } = rig(credential('1', 'k'));
  store.version = 100;
  const pending = byKey('k');
  await cached.recheck();
  store.rows = [];
  // The store is an older one now.
  store.version = 7;
  cached.discardUnchecked(7);
  assert.deepEqual(await pending, []);
});
