import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStore } from '../../../plugin-kit/shared-memory/index.ts';
import type { SharedStore, SharedStoreOptions } from '../../../plugin-sdk/shared-store.ts';
import { recoverStore, storeStats } from './store-recovery.ts';

const kibibyte = 1024;
const small = 256 * kibibyte;

function store(memory: SharedArrayBuffer, options: Partial<SharedStoreOptions> = {}): SharedStore {
  return sharedStore(memory, { worker: 0, ...options });
}

function put(into: SharedStore, key: string, size: number, fill = 1, expires = Number.POSITIVE_INFINITY): boolean {
  return into.put(key, { meta: Buffer.from(`meta of ${key}`), body: Buffer.alloc(size, fill), expires });
}

test('the other threads find what one thread puts, as a copy', () => {
  const memory = new SharedArrayBuffer(small);
  const [one, two] = [store(memory), store(memory, { worker: 'control-plane' })];
  for (const size of [0, 1, 900, 1024, 5000, 40_000]) {
    assert.equal(put(one, `k${size}`, size, 7, 9e15), true);
    const found = two.get(`k${size}`);
    assert.equal(found?.meta.toString(), `meta of k${size}`);
    assert.deepEqual(found?.body, Buffer.alloc(size, 7));
    assert.equal(found?.expires, 9e15);
  }
  const copy = one.get('k900');
  put(one, 'k900', 900, 8);
  assert.equal(copy?.body[0], 7);
  assert.equal(two.get('k900')?.body[0], 8);
  assert.equal(two.get('k901'), null);
  assert.deepEqual(
    { ...two.stats(), capacity: 0, taken: 0, slots: 0 },
    {
      ...{ bytes: small, slots: 0, used: 6, capacity: 0, taken: 0, evictions: 0 },
      ...{ hits: 8, misses: 1 },
    },
  );
});

test('a version names one value: it ends with the value, however that ends', () => {
  const memory = new SharedArrayBuffer(small);
  const [one, two] = [store(memory), store(memory, { worker: 1 })];
  assert.equal(one.version('k'), 0);
  assert.equal(one.isCurrent(0), false);
  put(one, 'k', 10);
  const first = two.version('k');
  assert.equal(two.get('k')?.version, first);
  assert.equal(two.isCurrent(first), true);
  put(one, 'k', 10);
  assert.equal(two.isCurrent(first), false);
  const second = two.version('k');
  assert.notEqual(second, first);
  assert.equal(two.remove(first), false, 'an old version removes nothing');
  assert.equal(two.remove(second), true);
  assert.equal(one.isCurrent(second), false);
  assert.equal(one.version('k'), 0);
  assert.equal(two.remove(0), false);
  put(one, 'k', 10);
  assert.equal(one.isCurrent(first) || one.isCurrent(second), false);
  assert.equal(one.delete('k'), true);
  assert.equal(one.delete('k'), false);
  assert.deepEqual([one.get('k'), one.stats().used, one.stats().taken], [null, 0, 0]);
});

test('the bound holds, recently used entries stay, and evictions are counted', () => {
  const memory = new SharedArrayBuffer(small);
  const one = store(memory);
  put(one, 'busy', 2000, 9);
  let puts = 1;
  for (let at = 0; at < 3000; at++) {
    assert.equal(put(one, `k${at}`, (at * 37) % 6000, at), true);
    puts++;
    assert.equal(one.get(`k${at}`)?.body.length, (at * 37) % 6000);
    if (at % 5 === 0) assert.equal(one.get('busy')?.body[0], 9, `busy is there after ${at}`);
  }
  const { used, taken, capacity, evictions } = one.stats();
  assert.equal(evictions, puts - used);
  assert.ok(taken <= capacity && taken > capacity * 0.8, `${taken} of ${capacity}`);
});

test('entries of one page fill most of the store', () => {
  const one = store(new SharedArrayBuffer(1024 * kibibyte));
  for (let at = 0; at < 3000; at++) put(one, `k${at}`, 600);
  const { used, slots } = one.stats();
  assert.ok(used > slots * 0.8, `${used} of ${slots}`);
});

test('an expired entry is not found, is removed first, and is not counted as an eviction', () => {
  let now = 1000;
  const one = store(new SharedArrayBuffer(small), { now: () => now });
  for (let at = 0; at < 2000; at++) {
    put(one, `k${at}`, 3000, 1, now + 100);
    assert.notEqual(one.get(`k${at}`), null);
    now += 10;
    assert.equal(one.get(`k${at - 10}`), null);
  }
  assert.equal(one.stats().evictions, 0);
});

test('free pages are used before anything is evicted', async () => {
  const one = store(new SharedArrayBuffer(small));
  for (let at = 0; one.stats().evictions === 0; at++) put(one, `k${at}`, 900);
  const { evictions, used } = one.stats();
  const removed = await one.removeWhere(({ key }) => Number(key.slice(1)) % 2 === 0);
  assert.ok(removed > used / 3);
  // Larger ones, so that the slots of a bucket do not run out before the pages do.
  for (let at = 0; at < removed / 4; at++) put(one, `n${at}`, 2900);
  assert.equal(one.stats().evictions, evictions);
});

test('too large, too long and invalid', () => {
  const one = store(new SharedArrayBuffer(small), { namespace: 'n/' });
  put(one, 'k', 10);
  assert.equal(put(one, 'k', 150_000), false);
  assert.equal(one.get('k'), null, 'an entry that could not be replaced is gone');
  assert.throws(() => put(one, 'x'.repeat(511), 1), TypeError);
  assert.throws(() => put(one, '\u0100', 1), TypeError);
  assert.equal(put(one, 'x'.repeat(510), 1), true);
  assert.equal(one.get('x'.repeat(510))?.body.length, 1);
  assert.equal(one.get('\u0100'), null);
  assert.throws(() => store(new SharedArrayBuffer(4096)), RangeError);
});

test('namespaces are separate, and a scan visits each of its entries once', () => {
  // With few buckets one of them can be full: the seed of a store is random.
  const memory = new SharedArrayBuffer(4 * small);
  const [a, b] = [store(memory, { namespace: 'a/' }), store(memory, { namespace: 'b/' })];
  for (let at = 0; at < 40; at++) {
    put(a, `k${at}`, 3000);
    put(b, `k${at}`, 10);
  }
  assert.equal(a.get('k1')?.body.length, 3000);
  assert.equal(b.get('k1')?.body.length, 10);
  const seen: string[] = [];
  let steps = 0;
  for (let cursor = 0; cursor >= 0; steps++) {
    cursor = b.scan(cursor, 16, (entry) => {
      assert.equal(entry.meta.toString(), `meta of ${entry.key}`);
      assert.equal(entry.bodyBytes, 10);
      assert.equal(entry.version, b.version(entry.key));
      seen.push(entry.key);
    });
  }
  assert.deepEqual(seen.sort(), Array.from({ length: 40 }, (_, at) => `k${at}`).sort());
  assert.ok(steps > 2);
});

test('an entry that was removed while others had the lock frees its pages later', () => {
  const memory = new SharedArrayBuffer(small);
  const words = new Int32Array(memory);
  const one = store(memory);
  put(one, 'k', 3000);
  words[16] = 9;
  assert.equal(one.delete('k'), true);
  assert.equal(one.get('k'), null);
  assert.equal(put(one, 'other', 10), false, 'a writer gives up');
  words[16] = 0;
  assert.equal(one.stats().taken, 3 * kibibyte);
  for (let at = 0; at < 300; at++) assert.equal(put(one, `k${at}`, 3000), true);
  const { used, taken } = one.stats();
  assert.equal(taken, used * 3 * kibibyte);
});

test('locks of a dead thread are released, and the counts corrected', () => {
  const memory = new SharedArrayBuffer(small);
  const words = new Int32Array(memory);
  const dead = store(memory, { worker: 3 });
  const one = store(memory, { worker: 0 });
  for (let at = 0; at < 20; at++) put(dead, `k${at}`, 3000, at);
  const before = storeStats(memory);
  words[16] = 5;
  words[32] = 5;
  // Half of its change: the counts are wrong.
  words[48] = 4711;
  words[49] = -3;
  recoverStore(memory, 2);
  assert.equal(words[16], 5, 'the lock of another thread is not released');
  recoverStore(memory, 3);
  assert.deepEqual([words[16], words[32]], [0, 0]);
  assert.deepEqual(storeStats(memory), before);
  for (let at = 0; at < 20; at++) assert.equal(one.get(`k${at}`)?.body[0], at);
  assert.equal(put(one, 'k0', 10), true);
});

test('a nearly empty store claims little memory, also when a worker ends', () => {
  const megabyte = 2 ** 20;
  const memory = new SharedArrayBuffer(512 * megabyte);
  const before = process.memoryUsage.rss();
  const one = store(memory);
  put(one, 'k', 10_000);
  recoverStore(memory, 0);
  storeStats(memory);
  assert.ok(process.memoryUsage.rss() - before < 100 * megabyte);
});

test('the first caller leads, the others wait until it has finished', async () => {
  const memory = new SharedArrayBuffer(small);
  const [one, two] = [store(memory), store(memory, { worker: 1 })];
  assert.equal(one.board('k', 1000), null);
  assert.equal(one.board('other', 1000), null);
  const waits = [two.board('k', 1000), one.board('k', 1000), two.board('k', 1000)];
  const ends = waits.map((wait) => wait?.(5000));
  two.land('k');
  const early = await Promise.race([ends[0], new Promise((resolve) => setTimeout(resolve, 20))]);
  assert.equal(early, undefined, 'a caller that does not lead cannot finish the flight');
  one.land('k');
  assert.deepEqual(await Promise.all(ends), ['done', 'done', 'done']);
  assert.equal(two.board('k', 1000), null);
  const late = one.board('k', 1000);
  two.land('k');
  assert.equal(await late?.(5000), 'done', 'it landed before the wait began');
});

test('a wait ends, and a leader is trusted only for its lease', async () => {
  const memory = new SharedArrayBuffer(small);
  const [one, two] = [store(memory), store(memory, { worker: 1 })];
  one.board('k', 60_000);
  assert.equal(await two.board('k', 1000)?.(5), 'late');
  one.board('short', 10);
  assert.equal(await two.board('short', 1000)?.(5000), 'done');
  assert.equal(two.board('short', 60_000), null);
  one.land('short');
  assert.notEqual(one.board('short', 1000), null, 'who lost the lead ends no flight of another');
});

test('flights of a dead worker end, and no others', async () => {
  const memory = new SharedArrayBuffer(small);
  const [one, dead] = [store(memory), store(memory, { worker: 5 })];
  dead.board('theirs', 60_000);
  one.board('mine', 60_000);
  const wait = one.board('theirs', 60_000)?.(60_000);
  recoverStore(memory, 5);
  assert.equal(await wait, 'done');
  assert.equal(one.board('theirs', 60_000), null);
  assert.notEqual(one.board('mine', 60_000), null);
});

test('callers without a slot for their flight all lead, and slots become free again', () => {
  const one = store(new SharedArrayBuffer(small));
  for (let at = 0; at < 500; at++) assert.equal(one.board(`k${at}`, 60_000), null);
  for (let at = 0; at < 500; at++) one.land(`k${at}`);
  for (let at = 0; at < 8; at++) {
    assert.equal(one.board(`n${at}`, 60_000), null);
    assert.notEqual(one.board(`n${at}`, 60_000), null);
  }
});
