import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MinimumRate } from './minimum-rate.ts';

/** Milliseconds until a sender of `bytes` each `pause` is found too slow; -1: not within ten minutes. */
function foundAfter(rate: MinimumRate, bytes: number, pause: number): number {
  rate.begin(0);
  for (let now = pause; now <= 600_000; now += pause) if (rate.isTooSlow(bytes, now)) return now;
  return -1;
}

test('a sender below the rate is detected after two windows', () => {
  assert.equal(foundAfter(new MinimumRate(100, 60_000), 1, 100), 20_000);
  assert.equal(foundAfter(new MinimumRate(100, 60_000), 99, 1000), 20_000);
  assert.equal(foundAfter(new MinimumRate(100, 1000), 1, 100), 2000);
  assert.equal(foundAfter(new MinimumRate(100, 60_000), 1, 59_000), 118_000);
});

test('a sender at the rate is not', () => {
  assert.equal(foundAfter(new MinimumRate(100, 60_000), 100, 1000), -1);
  assert.equal(foundAfter(new MinimumRate(0, 60_000), 1, 59_000), -1);
});

test('a sender that pauses once and continues is not', () => {
  const rate = new MinimumRate(100, 60_000);
  rate.begin(0);
  assert.equal(rate.isTooSlow(1, 30_000), false);
  assert.equal(rate.isTooSlow(1000, 40_000), false);
  assert.equal(rate.isTooSlow(1, 70_000), false);
});

test('time in which nothing was read does not count', () => {
  const rate = new MinimumRate(100, 60_000);
  rate.begin(0);
  assert.equal(rate.isTooSlow(1, 20_000), false);
  rate.begin(100_000);
  assert.equal(rate.isTooSlow(1, 110_000), false);
  assert.equal(rate.isTooSlow(1, 120_000), true);
});
