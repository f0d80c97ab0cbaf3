import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketOf } from './latency-sketch.ts';
import { createRequestMeter, RequestMeter, readMeter } from './request-meter.ts';

test('requests of all workers are added up by status, latency and bytes', () => {
  const memory = createRequestMeter(3);
  const meters = [0, 1, 2].map((worker) => new RequestMeter(memory, worker));
  for (const [at, meter] of meters.entries()) {
    meter.add(200, bucketOf(5), 10, 100);
    meter.add(404, bucketOf(5), 1, 2);
    meter.add(503, bucketOf(900), 0, 0);
    // The client was gone.
    if (at === 1) meter.add(0, bucketOf(1e9), 0, 0);
  }
  const { bytesIn, bytesOut, statuses, buckets } = readMeter(memory);
  assert.deepEqual([bytesIn, bytesOut], [33, 306]);
  assert.deepEqual([...statuses], [0, 3, 0, 4, 3]);
  assert.equal(buckets[bucketOf(5)], 6);
  assert.equal(buckets[bucketOf(900)], 3);
  assert.equal(
    buckets.reduce((sum, count) => sum + count, 0),
    10,
  );
});

test('the successor of a worker continues its row', () => {
  const memory = createRequestMeter(2);
  new RequestMeter(memory, 1).add(200, 1, 1, 1);
  new RequestMeter(memory, 1).add(201, 1, 1, 1);
  assert.equal(readMeter(memory).statuses[1], 2);
});
