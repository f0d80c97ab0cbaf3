import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nextTimestamp } from './next-timestamp.ts';

it('follows the clock when that is ahead of every earlier transaction', () => {
  assert.equal(nextTimestamp(0, 1_700_000_000_000), 1_700_000_000_000);
  assert.equal(nextTimestamp(999, 1000), 1000);
});

it('is later than the transaction before in the same millisecond, or on a node whose clock is behind', () => {
  assert.equal(nextTimestamp(1000, 1000), 1001);
  assert.equal(nextTimestamp(60_000, 1000), 60_001);
});

it('does not follow a clock that is far ahead', () => {
  const now = 1_700_000_000_000;
  const farFuture = now + 365 * 86_400_000;
  assert.equal(nextTimestamp(farFuture, now), now);
});
