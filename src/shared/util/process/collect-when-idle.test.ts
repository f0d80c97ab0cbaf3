import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectWhenIdle } from './collect-when-idle.ts';

test('garbage is collected after the idle time', async () => {
  const collected = Promise.withResolvers<number>();
  let looks = 0;
  const registry = new FinalizationRegistry(() => collected.resolve(looks));
  registry.register({}, null);
  // Busy at the first checks, idle from the third on.
  collectWhenIdle(() => Math.min(++looks, 3), 1);
  const keepAlive = setInterval(() => undefined, 100);
  assert.equal(await collected.promise, 4);
  clearInterval(keepAlive);
});

test('the garbage collector is not exposed', () => {
  assert.equal(Reflect.get(globalThis, 'gc'), undefined);
});
