import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import {
  LabelledCounter,
  labelledCountsBytes,
  labelledCountsStats,
  readLabelledCounts,
  recoverLabelledCounts,
} from './labelled-counts.ts';

function memoryFor(entries: number): SharedArrayBuffer {
  return new SharedArrayBuffer(labelledCountsBytes(entries));
}

test('counts by labels, and reports the time of the last count', () => {
  const memory = memoryFor(100);
  const counter = new LabelledCounter(memory, 0);
  counter.add(['v1', 'ada'], 1_000);
  counter.add(['v1', ''], 1_001);
  counter.add(['v1', 'ada'], 3_000_000_000);
  const { entries, other } = readLabelledCounts(memory);
  assert.deepEqual(
    [...entries].sort((a, b) => b.count - a.count),
    [
      { labels: ['v1', 'ada'], count: 2, lastSeen: 3_000_000_000 },
      { labels: ['v1', ''], count: 1, lastSeen: 1_001 },
    ],
  );
  assert.deepEqual(other, { labels: [], count: 0, lastSeen: 0 });
  assert.equal(labelledCountsStats(memory).used, 2);
});

test('no count is lost: labels without a slot are counted among the others', () => {
  const memory = memoryFor(20);
  const counter = new LabelledCounter(memory, 0);
  for (let at = 0; at < 5_000; at++) counter.add([`v${at % 50}`], at);
  counter.add(['x'.repeat(200)], 9_999);
  const { entries, other } = readLabelledCounts(memory);
  assert.ok(entries.length > 15);
  assert.equal(
    entries.reduce((sum, { count }) => sum + count, other.count),
    5_001,
  );
  assert.equal(other.lastSeen, 9_999);
});

test('a count continues beyond 32 bits', () => {
  const memory = memoryFor(20);
  const counter = new LabelledCounter(memory, 0);
  counter.add(['v1'], 1);
  const words = new Int32Array(memory);
  const low = words.findIndex((word, at) => word === 1 && words[at - 2] === 1 && at % 48 === 2);
  words[low] = -2;
  for (let time = 0; time < 3; time++) counter.add(['v1'], 1);
  assert.equal(readLabelledCounts(memory).entries[0]?.count, 2 ** 32 + 1);
});

test('several threads count exactly, and find the same slots', async () => {
  const memory = memoryFor(200);
  const code = `
    const { workerData } = require('node:worker_threads');
    import(workerData.module).then(({ LabelledCounter }) => {
      const counter = new LabelledCounter(workerData.memory, workerData.worker);
      for (let at = 0; at < 40000; at++) counter.add(['v' + (at % 7), 'consumer ' + (at % 13)], at);
    });`;
  const module = new URL('./labelled-counts.ts', import.meta.url).href;
  await Promise.all(
    [0, 1, 2].map(
      (worker) =>
        new Promise((resolve, reject) =>
          new Worker(code, { eval: true, workerData: { module, memory, worker } })
            .on('exit', resolve)
            .on('error', reject),
        ),
    ),
  );
  const { entries, other } = readLabelledCounts(memory);
  assert.equal(entries.length, 91);
  assert.equal(other.count, 0);
  assert.equal(
    entries.reduce((sum, { count }) => sum + count, 0),
    120_000,
  );
  assert.equal(labelledCountsStats(memory).used, 91);
});

test('a slot that a dead worker was writing to is free again, and blocks no thread until then', () => {
  const memory = memoryFor(20);
  const words = new Int32Array(memory);
  for (let slot = 1; slot * 48 < words.length; slot += 2) words[slot * 48] = -4;
  const counter = new LabelledCounter(memory, 0);
  counter.add(['v1'], 1);
  const before = labelledCountsStats(memory).used;
  recoverLabelledCounts(memory, 3);
  assert.ok(labelledCountsStats(memory).used < before);
  counter.add(['v1'], 2);
  assert.equal(readLabelledCounts(memory).entries[0]?.count, 2);
});
