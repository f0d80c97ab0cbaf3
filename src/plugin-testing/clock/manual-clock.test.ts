import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from './manual-clock.ts';

test('a deadline that is computed from the clock is over when the clock has moved so far', async () => {
  for (let round = 0; round < 100; round++) {
    const clock = new ManualClock(null, (work) => work());
    await clock.advance(round);
    const deadline = clock.monotonic() + 3_000;
    await clock.advance(3_000);
    assert.ok(deadline <= clock.monotonic(), `${deadline} is after ${clock.monotonic()}`);
  }
});
