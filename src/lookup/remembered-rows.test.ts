import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../entities/entity.ts';
import type { Question } from './questions.ts';
import { type QuestionBatch, RememberedRows } from './remembered-rows.ts';

const entity = 'keyauth_credentials';

function credential(id: string, key: string, more: Readonly<Record<string, unknown>> = {}): Row {
  return { id, created_at: 1, key, consumer: { id: 'c' }, ...more };
}

/** Remembered rows in front of a store that a test changes as it likes. */
function rig(...rows: readonly Row[]) {
  const store = { rows: [...rows], away: false, asked: 0, version: 1 };
  const find = ({ field, values }: QuestionBatch): readonly Row[] => {
    if (store.away) throw new Error('away');
    store.asked += 1;
    return store.rows.filter((row) => {
      const value = row[field] as string | { id: string };
      return values.includes(typeof value === 'string' ? value : value.id);
    });
  };
  const remembered = new RememberedRows({
    path: '/nowhere',
    changed: () => {},
    ask: async (question) => ({
      version: store.version,
      rows: find({ entity: question.entity, field: question.field, values: [question.value] }),
    }),
    askMany: async (batch) => find(batch),
  });
  const byKey = async (key: string): Promise<readonly Row[]> =>
    remembered.rows({ entity, field: 'key', value: key, many: false } satisfies Question);
  const ofConsumer = async (): Promise<readonly Row[]> =>
    remembered.rows({ entity, field: 'consumer', value: 'c', many: true } satisfies Question);
  return { store, remembered, byKey, ofConsumer };
}

test('answers that the store confirms survive its next outage, others are evicted', async () => {
  const { store, remembered, byKey, ofConsumer } = rig(
    credential('1', 'same'),
    credential('2', 'gone'),
    credential('3', 'old'),
  );
  for (const key of ['same', 'gone', 'old', 'absent']) await byKey(key);
  assert.equal((await ofConsumer()).length, 3);
  store.rows = [credential('1', 'same'), credential('3', 'new'), credential('4', 'absent')];
  await remembered.recheck();
  remembered.forgetUnchecked(2);
  store.away = true;
  assert.deepEqual(await byKey('same'), [credential('1', 'same')]);
  assert.deepEqual(await ofConsumer(), store.rows);
  for (const key of ['gone', 'old', 'absent']) await assert.rejects(byKey(key), { message: 'away' }, key);
});

test('nothing is evicted when the store becomes unavailable during the comparison', async () => {
  const { store, remembered, byKey } = rig(credential('1', 'k'));
  await byKey('k');
  store.away = true;
  await assert.rejects(remembered.recheck());
  assert.deepEqual(await byKey('k'), [credential('1', 'k')]);
});

test('many rows are compared with few questions', async () => {
  const rows = Array.from({ length: 1000 }, (_, at) => credential(`${at}`, `k${at}`));
  const { store, remembered, byKey } = rig(...rows);
  for (const row of rows) await byKey(String(row['key']));
  store.asked = 0;
  await remembered.recheck();
  assert.equal(store.asked, 5);
});

test('an answer in flight during the comparison is requested again', async () => {
  const { store, remembered, byKey } = rig(credential('1', 'k'));
  store.version = 100;
  const pending = byKey('k');
  await remembered.recheck();
  store.rows = [];
  // The store is an older one now.
  store.version = 7;
  remembered.forgetUnchecked(7);
  assert.deepEqual(await pending, []);
});
