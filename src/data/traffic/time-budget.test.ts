import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { threadCpuTime } from '../../shared/util/time/thread-cpu-time.ts';
import { TimeBudget } from './time-budget.ts';

/** This thread rests. */
function rest(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function compute(milliseconds: number): void {
  for (const begun = threadCpuTime(); threadCpuTime() - begun < milliseconds; );
}

test('work is done until the time is used up, and the time that others take does not count', () => {
  const budget = new TimeBudget(100, 0);
  assert.equal(
    budget.spend(0, () => rest(150)),
    undefined,
  );
  assert.equal(
    budget.spend(0, () => 'done'),
    'done',
  );
  budget.spend(0, () => compute(60));
  assert.equal(
    budget.spend(0.5, () => 'done'),
    null,
    'the rest is kept for others',
  );
  budget.spend(0, () => compute(60));
  assert.equal(
    budget.spend(0, () => 'done'),
    null,
  );
});

test('the time comes back', async () => {
  const budget = new TimeBudget(20, 100);
  budget.spend(0, () => compute(30));
  await until(() => budget.spend(0, () => 'done') === 'done');
});
