import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Concurrency } from '../limits/concurrency.ts';
import { KeyHash } from './key-hash.ts';
import { Field, firstBucket } from './zone-layout.ts';
import { recoverZone, zoneStats } from './zone-stats.ts';
import { ZoneTable } from './zone-table.ts';

/** Counts a use of the key and returns how many there were. */
function use(table: ZoneTable, hash: KeyHash, key: string, now: number, lives: number): number {
  table.lock(hash, key);
  const slot = table.claim(1, now);
  table.values[slot + Field.lastUsed] = now;
  table.values[slot + Field.expiresAt] = now + lives;
  const count = table.values[slot + Field.first]! + 1;
  table.values[slot + Field.first] = count;
  table.unlock();
  return count;
}

test('keys are separate, and two tables over one memory see the same', () => {
  const memory = new SharedArrayBuffer(1 << 16);
  const [one, two] = [new ZoneTable(memory, 0), new ZoneTable(memory, 1)];
  const [hashOne, hashTwo] = [one.hasher('n/'), two.hasher('n/')];
  for (let at = 0; at < 200; at++) assert.equal(use(one, hashOne, `key-${at}`, 1, 1000), 1);
  for (let at = 0; at < 200; at++) assert.equal(use(two, hashTwo, `key-${at}`, 2, 1000), 2);
  assert.deepEqual(zoneStats(memory), { bytes: 65_536, slots: 63 * 15, used: 200, evictions: 0 });
});

test('a full table keeps its size, evicts idle keys first, and counts evictions', () => {
  const memory = new SharedArrayBuffer(1 << 18);
  const table = new ZoneTable(memory, 0);
  const hash = table.hasher('');
  for (let at = 0; at < 100_000; at++) {
    use(table, hash, `key-${at}`, at, 1e9);
    if (at % 20 === 0) assert.equal(use(table, hash, 'busy', at, 1e9), at / 20 + 1, 'a busy key stays');
  }
  const { slots, used, evictions } = zoneStats(memory);
  assert.ok(used <= slots && used > slots * 0.99);
  assert.equal(evictions, 100_001 - used);
});

test('expired keys are reused before anything is evicted', () => {
  const memory = new SharedArrayBuffer(1 << 16);
  const table = new ZoneTable(memory, 0);
  const hash = table.hasher('');
  for (let at = 0; at < 10_000; at++) use(table, hash, `key-${at}`, at, 50);
  assert.equal(zoneStats(memory).evictions, 0);
});

test('hashes depend on the seed, the prefix, every character and its position', () => {
  const hashes = new Set<string>();
  const texts = [
    '',
    '\0',
    '\0\0',
    'a',
    'b',
    'ab',
    'ba',
    'abc',
    'abcd',
    'abcde',
    'a\0',
    '\u0100',
    '127.0.0.1',
    '127.0.0.10',
  ];
  for (const seed of [
    [1, 2],
    [2, 1],
    [0, 0],
  ] as const) {
    for (const prefix of ['', 'p', 'pp']) {
      const hash = new KeyHash(seed, prefix);
      for (const text of texts) {
        hash.hash(text);
        hashes.add(`${hash.high}:${hash.low}`);
      }
    }
  }
  assert.equal(hashes.size, 3 * 3 * texts.length);
});

test('hashes of numbered keys are spread evenly', () => {
  const hash = new KeyHash([7, 9]);
  const buckets = new Uint32Array(256);
  for (let at = 0; at < 256_000; at++) {
    hash.hash(`10.0.${at >> 8}.${at & 255}`);
    buckets[hash.high % 256]!++;
  }
  // 1000 expected; the standard deviation is 32.
  assert.ok(buckets.every((count) => Math.abs(count - 1000) < 200));
});

test('releasing the requests of a dead worker claims no memory of a nearly empty zone', () => {
  const megabyte = 2 ** 20;
  const memory = new SharedArrayBuffer(256 * megabyte);
  const before = process.memoryUsage.rss();
  recoverZone(memory, 0);
  assert.ok(process.memoryUsage.rss() - before < 100 * megabyte);
});

test('requests of a dead worker are released, even while a preempted worker holds the lock', async () => {
  const memory = new SharedArrayBuffer(4096);
  const limit = { namespace: '', zone: '', limit: 1 };
  const table = new ZoneTable(memory, 0);
  const dead = new Concurrency(table, 0, limit);
  assert.equal(dead.acquire('k'), 1);
  const words = new Int32Array(memory);
  const buckets = [0, 1, 2].map((bucket) => firstBucket * (bucket + 1));
  const holder = new Worker(
    `const { workerData: { words, buckets }, parentPort } = require('node:worker_threads');
    for (const lock of buckets) Atomics.store(words, lock, 9);
    parentPort.postMessage('held');
    Atomics.wait(words, 0, Atomics.load(words, 0), 40);
    for (const lock of buckets) Atomics.store(words, lock, 0);`,
    { eval: true, workerData: { words, buckets } },
  );
  await new Promise((resolve) => holder.once('message', resolve));
  recoverZone(memory, 0);
  await new Promise((resolve) => holder.once('exit', resolve));
  assert.equal(new Concurrency(new ZoneTable(memory, 1), 1, limit).acquire('k'), 1);
});
