import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Allowance } from './allowance.ts';

test('gives a burst, then so much a second', () => {
  const allowance = new Allowance(3, 2, 1000);
  assert.deepEqual(
    [1000, 1000, 1000, 1000].map((now) => allowance.take(now)),
    [true, true, true, false],
  );
  assert.equal(allowance.take(1400), false);
  assert.equal(allowance.take(1500), true);
  assert.equal(allowance.take(1500), false);
});

test('never gives more than the burst at once', () => {
  const allowance = new Allowance(2, 100, 0);
  assert.deepEqual(
    [60_000, 60_000, 60_000].map((now) => allowance.take(now)),
    [true, true, false],
  );
});

test('work allows for more, up to the burst', () => {
  const allowance = new Allowance(1, 0, 0);
  assert.equal(allowance.take(0), true);
  allowance.credit();
  allowance.credit();
  assert.deepEqual(
    [0, 0].map((now) => allowance.take(now)),
    [true, false],
  );
});
