import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectAtRest } from './collect-at-rest.ts';

test('garbage is collected once nothing has happened for the rest', { timeout: 10_000 }, async () => {
  const collected = Promise.withResolvers<number>();
  let looks = 0;
  const registry = new FinalizationRegistry(() => collected.resolve(looks));
  registry.register({}, null);
  // Busy at the first looks, at rest from the third on.
  collectAtRest(() => Math.min(++looks, 3), 1);
  const keepAlive = setInterval(() => undefined, 100);
  assert.equal(await collected.promise, 4);
  clearInterval(keepAlive);
});

test('the function that collects is not left to others', () => {
  assert.equal(Reflect.get(globalThis, 'gc'), undefined);
});
