import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import type { Row } from '../entities/entity.ts';
import type { Call, Found, Question } from './calls.ts';
import { EntityCache } from './entity-cache.ts';

interface Asked {
  readonly question: Question;
  answer(rows: readonly Row[], version?: number): void;
  fail(): void;
}

/** A cache, and the lookups that it sends. */
function start(size = 100, concurrency = 100, maxWaiting = 10) {
  const asked: Asked[] = [];
  const send = (call: Call): Promise<unknown> => {
    assert.equal(call.method, 'find');
    return new Promise<Found>((resolve, reject) => {
      asked.push({
        question: (call as Call & { method: 'find' }).question,
        answer: (rows, version = 0) => resolve({ rows, version }),
        fail: () => reject(new EntityAccessError('unavailable', 'store unavailable')),
      });
    });
  };
  return { cache: new EntityCache({ call: send, size, concurrency, maxWaiting }), asked };
}

function key(id: string, value: string, more: Readonly<Record<string, unknown>> = {}): Row {
  return { id, created_at: 1, key: value, consumer: { id: 'c' }, ...more };
}

const keys = 'keyauth_credentials';

async function known(cache: EntityCache, asked: Asked[], value: string, rows: readonly Row[]): Promise<void> {
  const pending = cache.find(keys, 'key', value);
  assert.ok(pending instanceof Promise);
  asked.at(-1)!.answer(rows);
  await pending;
}

test('a second lookup is answered at once, with the same row', async () => {
  const { cache, asked } = start();
  await known(cache, asked, 'k', [key('1', 'k')]);
  const found = cache.find(keys, 'key', 'k');
  assert.ok(!(found instanceof Promise));
  assert.equal(found?.id, '1');
  assert.equal(cache.find(keys, 'key', 'k'), found);
  assert.equal(asked.length, 1);
});

test('a caller that arrives while the lookup is in flight waits for the same answer', async () => {
  const { cache, asked } = start();
  const both = [cache.find(keys, 'key', 'k'), cache.find(keys, 'key', 'k')];
  assert.equal(asked.length, 1);
  asked[0]!.answer([key('1', 'k')]);
  const [one, two] = await Promise.all(both);
  assert.equal(one, two);
});

test('an absence is cached until a row with that value is added', async () => {
  const { cache, asked } = start();
  await known(cache, asked, 'k', []);
  assert.equal(cache.find(keys, 'key', 'k'), null);
  cache.touch([{ entity: keys, id: '1', values: { key: 'k' } }], 1);
  assert.ok(cache.find(keys, 'key', 'k') instanceof Promise);
});

test('an overlong key is not cached when there is no such row', async () => {
  const { cache, asked } = start();
  const long = 'k'.repeat(100_000);
  await known(cache, asked, long, []);
  assert.ok(cache.find(keys, 'key', long) instanceof Promise);
  asked.at(-1)!.answer([key('1', long)]);
  await cache.find(keys, 'key', long);
  assert.ok(!(cache.find(keys, 'key', long) instanceof Promise));
});

test('a row that was changed or removed is fetched again, by every field', async () => {
  const { cache, asked } = start();
  await known(cache, asked, 'k', [key('1', 'k')]);
  const list = cache.list(keys, 'consumer', 'c');
  asked.at(-1)!.answer([key('1', 'k'), key('2', 'l')]);
  await list;
  cache.touch([{ entity: keys, id: '1', values: {} }], 1);
  assert.ok(cache.find(keys, 'key', 'k') instanceof Promise);
  assert.ok(cache.list(keys, 'consumer', 'c') instanceof Promise);
});

test('a list is fetched again when a row is added to it', async () => {
  const { cache, asked } = start();
  const list = cache.list(keys, 'consumer', 'c');
  asked[0]!.answer([]);
  assert.deepEqual(await list, []);
  assert.deepEqual(cache.list(keys, 'consumer', 'c'), []);
  cache.touch([{ entity: keys, id: '9', values: { consumer: 'c' } }], 1);
  assert.ok(cache.list(keys, 'consumer', 'c') instanceof Promise);
});

test('an answer from before a concurrent change is not used', async () => {
  const { cache, asked } = start();
  const pending = cache.find(keys, 'key', 'k');
  cache.touch([{ entity: keys, id: '1', values: {} }], 7);
  asked[0]!.answer([key('1', 'k')], 6);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(asked.length, 2);
  asked[1]!.answer([], 7);
  assert.equal(await pending, null);
});

test('a row that expires is removed at that moment', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1000 });
  const { cache, asked } = start();
  await known(cache, asked, 'k', [key('1', 'k', { expires_at: 2000 })]);
  assert.ok(!(cache.find(keys, 'key', 'k') instanceof Promise));
  t.mock.timers.setTime(2000);
  const again = cache.find(keys, 'key', 'k');
  asked[1]!.answer([key('1', 'k', { expires_at: 2000 })]);
  assert.equal(await again, null, 'whatever the store says');
});

test('a flood of wrong keys evicts no right one, and memory stays bounded', async () => {
  const { cache, asked } = start(100);
  await known(cache, asked, 'right', [key('1', 'right')]);
  for (let at = 0; at < 1000; at++) await known(cache, asked, `wrong${at}`, []);
  assert.ok(!(cache.find(keys, 'key', 'right') instanceof Promise));
});

test('rows are evicted with the last answer that contains them', async () => {
  const { cache, asked } = start(4);
  await known(cache, asked, 'a', [key('a', 'a')]);
  for (let at = 0; at < 50; at++) await known(cache, asked, `k${at}`, [key(`${at}`, `k${at}`)]);
  const again = cache.find(keys, 'key', 'a');
  const renewed = key('a', 'a', { tags: ['new'] });
  asked.at(-1)!.answer([renewed]);
  assert.equal(await again, renewed);
});

test('when the store is unavailable, cached answers are served, the rest rejects, and failures are not cached', async () => {
  const { cache, asked } = start();
  await known(cache, asked, 'k', [key('1', 'k')]);
  const pending = cache.find(keys, 'key', 'other');
  asked[1]!.fail();
  await assert.rejects(async () => await pending, { name: 'EntityAccessError', kind: 'unavailable' });
  assert.ok(!(cache.find(keys, 'key', 'k') instanceof Promise));
  assert.ok(cache.find(keys, 'key', 'other') instanceof Promise);
  assert.equal(asked.length, 3);
});

test('lookups in flight are bounded', async () => {
  const { cache, asked } = start(100, 4, 2);
  const found = ['a', 'b', 'c'].map((value) => cache.find(keys, 'key', value, '192.0.2.1'));
  assert.equal(asked.length, 2, 'half of the slots are for other clients');
  await assert.rejects(async () => await cache.find(keys, 'key', 'd', '192.0.2.1'), { kind: 'unavailable' });
  for (let at = 0; at < 3; at++) {
    asked[at]!.answer([]);
    await found[at];
  }
});

test('a client that tries many keys does not delay another one, even for the same key', async () => {
  const { cache, asked } = start(1000, 2, 400);
  const values = () => asked.map(({ question }) => question.value);
  const guesses = Array.from({ length: 100 }, (_, at) => cache.find(keys, 'key', `guess${at}`, `2001:db8::${at}`));
  const early = cache.find(keys, 'key', 'good', '2001:db8::1');
  const good = cache.find(keys, 'key', 'good', '192.0.2.1');
  assert.deepEqual(values(), ['guess0', 'good']);
  asked[1]!.answer([key('1', 'good')]);
  assert.equal((await good)?.id, '1');
  for (let at = 0; at < 100; at++) {
    asked[at === 0 ? 0 : at + 1]!.answer([]);
    await guesses[at];
  }
  assert.equal((await early)?.id, '1');
});

test('an answer that arrives while a lookup is queued is used', async () => {
  const { cache, asked } = start(100, 2, 10);
  const first = cache.find(keys, 'key', 'a', '192.0.2.1');
  const waiting = cache.find(keys, 'key', 'b', '192.0.2.1');
  const other = cache.find(keys, 'key', 'b', '192.0.2.2');
  asked[1]!.answer([key('1', 'b')]);
  assert.equal((await other)?.id, '1');
  asked[0]!.answer([]);
  assert.equal(await first, null);
  assert.equal((await waiting)?.id, '1');
  assert.equal(asked.length, 2);
});

test('everything is fetched again after a gap in the changes', async () => {
  const { cache, asked } = start();
  await known(cache, asked, 'k', [key('1', 'k')]);
  await known(cache, asked, 'none', []);
  cache.invalidateAll(3);
  assert.ok(cache.find(keys, 'key', 'k') instanceof Promise);
  assert.ok(cache.find(keys, 'key', 'none') instanceof Promise);
});

test('a consumer is found by id or by name', async () => {
  const { cache, asked } = start();
  const id = '0A000000-0000-4000-8000-000000000001';
  const byId = cache.consumer(id);
  assert.deepEqual(asked[0]!.question, { entity: 'consumers', field: 'id', value: id.toLowerCase(), many: false });
  asked[0]!.answer([{ id: id.toLowerCase(), created_at: 1, username: 'ada', custom_id: null, tags: null }]);
  assert.deepEqual(await byId, { id: id.toLowerCase(), username: 'ada', customId: null, tags: [] });
  void cache.consumer('ada');
  assert.equal(asked[1]!.question.field, 'username');
});

test('a key that was cut out of a request head does not keep the head in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { cache, asked } = start(10_000);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 1000; at++) {
    const head = Buffer.alloc(32_768, 'x').toString('latin1');
    await known(cache, asked, `${at}-${head}`.slice(0, 40), []);
    asked.length = 0;
  }
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(grown < 8_000_000, `${grown} bytes`);
});
