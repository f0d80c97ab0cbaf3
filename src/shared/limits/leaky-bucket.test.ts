import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLimitTools } from './limit-tools.ts';

function start(rate: number, burst: number) {
  const memory = new SharedArrayBuffer(1 << 16);
  const time = { now: Date.UTC(2030, 0, 1) };
  const tools = createLimitTools({ worker: 0, zone: () => memory, lease: async () => [] });
  const bucket = tools.bucket({ namespace: 'n', zone: 'z', rate, burst, now: () => time.now });
  return { time, bucket };
}

test('without a burst, one request passes in each interval of the rate', () => {
  const { time, bucket } = start(10, 0);
  assert.equal(bucket.take('k'), 0);
  time.now += 99;
  assert.equal(bucket.take('k'), -1);
  time.now += 1;
  assert.equal(bucket.take('k'), 0);
  assert.equal(bucket.take('other'), 0);
});

test('requests of a burst are delayed, one interval each', () => {
  const { time, bucket } = start(10, 3);
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map(() => bucket.take('k')),
    [0, 100, 200, 300, -1, -1],
  );
  time.now += 150;
  assert.equal(bucket.excess('k'), 1.5);
  assert.equal(Math.round(bucket.take('k')), 250);
  time.now += 10_000;
  assert.equal(bucket.take('k'), 0);
});

test('a rejected request adds nothing', () => {
  const { time, bucket } = start(1, 0);
  bucket.take('k');
  for (let at = 0; at < 100; at++) bucket.take('k');
  time.now += 1000;
  assert.equal(bucket.take('k'), 0);
});

test('a rate of 30 per minute is one in two seconds', () => {
  const { time, bucket } = start(0.5, 0);
  assert.equal(bucket.take('k'), 0);
  time.now += 1999;
  assert.equal(bucket.take('k'), -1);
  time.now += 1;
  assert.equal(bucket.take('k'), 0);
});

test('over any period at most the rate and the burst pass', () => {
  const { time, bucket } = start(100, 20);
  let passed = 0;
  for (let at = 0; at < 50_000; at++) {
    if (bucket.take('k') >= 0) passed++;
    if (at % 5 === 0) time.now += 1;
  }
  assert.equal(passed, 1 + 20 + (10_000 * 100) / 1000);
});

test('a clock that is changed by an hour does not lock out', () => {
  const { time, bucket } = start(10, 0);
  bucket.take('k');
  time.now -= 3_600_000;
  let waits = 0;
  while (bucket.take('k') < 0) {
    time.now += 10;
    assert.ok(++waits <= 11, 'no longer than one interval');
  }
  time.now += 3_600_000;
  assert.equal(bucket.take('k'), 0);
  assert.equal(bucket.take('k'), -1);
});
