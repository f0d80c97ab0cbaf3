import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket } from './token-bucket.ts';

test('allows a burst, then a rate per second', () => {
  const allowance = new TokenBucket(3, 2, 1000);
  assert.deepEqual(
    [1000, 1000, 1000, 1000].map((now) => allowance.take(now)),
    [true, true, true, false],
  );
  assert.equal(allowance.take(1400), false);
  assert.equal(allowance.take(1500), true);
  assert.equal(allowance.take(1500), false);
});

test('never allows more than the burst at once', () => {
  const allowance = new TokenBucket(2, 100, 0);
  assert.deepEqual(
    [60_000, 60_000, 60_000].map((now) => allowance.take(now)),
    [true, true, false],
  );
});

test('says how many tokens were taken and not made up for', () => {
  const allowance = new TokenBucket(3, 1, 0);
  allowance.take(0);
  allowance.take(0);
  assert.equal(allowance.spent, 2);
  allowance.credit();
  assert.equal(allowance.spent, 1);
  allowance.take(1000);
  assert.equal(allowance.spent, 1);
});

test('a credit adds tokens, up to the burst', () => {
  const allowance = new TokenBucket(1, 0, 0);
  assert.equal(allowance.take(0), true);
  allowance.credit();
  allowance.credit();
  assert.deepEqual(
    [0, 0].map((now) => allowance.take(now)),
    [true, false],
  );
});
