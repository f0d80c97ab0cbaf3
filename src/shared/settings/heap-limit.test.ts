import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { HeapGauge } from '../../data/worker/heap-gauge.ts';
import { engineHeapLimit, heapCeiling, workerHeapLimit } from './heap-limit.ts';

const mebibyte = 1024 ** 2;

test('a heap above its limit is measured without its garbage', () => {
  let garbage: number[][] | null = Array.from({ length: 2 }, () => new Array<number>(4_000_000).fill(0.5));
  const before = getHeapStatistics().used_heap_size;
  assert.ok(before > 60 * mebibyte, `${before} bytes in use with ${garbage.length} arrays`);
  garbage = null;
  const limit = before - 20 * mebibyte;
  assert.ok(new HeapGauge(limit).read() < limit);
});

test('a heap that stays above its limit is not collected each time', () => {
  const gauge = new HeapGauge(1);
  gauge.read();
  const begun = cpuTime();
  for (let count = 0; count < 100; count++) assert.ok(gauge.read() > 1);
  assert.ok(cpuTime() - begun < 200);
});

test('the ceiling leaves room above every limit, and the engine leaves room above the ceiling', () => {
  for (const limit of [64, 128, 512, 2048].map((size) => size * mebibyte)) {
    assert.ok(heapCeiling(limit) - limit >= 128 * mebibyte);
    assert.ok(engineHeapLimit(limit) * mebibyte - heapCeiling(limit) >= 512 * mebibyte);
  }
  assert.equal(workerHeapLimit({ workerMaxHeapSize: 64 * mebibyte, workers: 4 }), 64 * mebibyte);
});
