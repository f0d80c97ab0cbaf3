import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { LoopDelay } from './loop-delay.ts';

test('the delay of the event loop is that of the time since the last look', async () => {
  const delay = new LoopDelay();
  assert.equal(delay.take(), 0);
  await wait(50);
  const end = performance.now() + 300;
  while (performance.now() < end);
  await wait(50);
  const blocked = delay.take();
  assert.ok(blocked >= 200 && blocked < 1500, `${blocked} ms`);
  assert.equal(delay.take(), 0, 'nothing was measured since');
});
