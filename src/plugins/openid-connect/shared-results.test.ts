import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedResults, sharedResultsSize } from './shared-results.ts';

function twoWorkers() {
  const memory = new SharedArrayBuffer(sharedResultsSize);
  return [new SharedResults(memory), new SharedResults(memory)] as const;
}

test('concurrent and later calls of several workers share one result', async () => {
  const [one, other] = twoWorkers();
  let calls = 0;
  const { promise, resolve } = Promise.withResolvers<string>();
  const call = () => {
    calls += 1;
    return promise;
  };
  const results = Promise.all([one, other, one, other].map((worker) => worker.run('q', 5000, call)));
  resolve('the answer: ä');
  assert.deepEqual(new Set(await results), new Set(['the answer: ä']));
  assert.equal(await other.run('q', 5000, call), 'the answer: ä');
  assert.equal(calls, 1);
  assert.equal(await other.run('p', 5000, async () => 'another'), 'another');
});

test('null is a result; a failure is not', async () => {
  const [one, other] = twoWorkers();
  assert.equal(await one.run('q', 5000, async () => null), null);
  assert.equal(await other.run('q', 5000, async () => 'x'), null);
  await assert.rejects(
    one.run('p', 5000, () => Promise.reject(new Error('unavailable'))),
    /unavailable/,
  );
  assert.equal(await other.run('p', 5000, async () => 'x'), 'x');
});

test('waiting is limited by the timeout, and results expire', async (t) => {
  const [one, other] = twoWorkers();
  void one.run('q', 5000, () => new Promise(() => {}));
  assert.equal(await other.run('q', 20, async () => 'own'), 'own');
  assert.equal(await one.run('r', 5000, async () => 'r'), 'r');
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 62_000 });
  assert.equal(await other.run('q', 5000, async () => 'again'), 'again');
  assert.equal(await other.run('r', 5000, async () => 'new'), 'new');
});

test('a result that does not fit is not shared', async () => {
  const [one, other] = twoWorkers();
  const long = 'x'.repeat(20_000);
  assert.equal(await one.run('q', 5000, async () => long), long);
  assert.equal(await other.run('q', 5000, async () => 'short'), 'short');
});

test('a slot that another worker takes during a read never returns the result of another call', async (t) => {
  const memory = new SharedArrayBuffer(sharedResultsSize);
  const results = new SharedResults(memory);
  assert.equal(await results.run('q', 5000, async () => 'of q'), 'of q');
  const words = new Int32Array(memory);
  const at = words.findIndex((word, index) => index % 4096 === 0 && word !== 0);
  const load = Atomics.load.bind(Atomics) as (array: Int32Array, index: number) => number;
  let step = 0;
  t.mock.method(Atomics, 'load', (array: Int32Array, index: number) => {
    const value = load(array, index);
    if (index === at && step === 0) {
      // The other worker claims the slot, and will write its key.
      step = 1;
      words[at] = 1;
      words[at + 1]! += 1;
    } else if (index === at + 2 && step === 1) {
      // It has its result.
      step = 2;
      words.fill(0, at + 4, at + 8);
      Buffer.from(memory).write('of p', at * 4 + 32);
      words[at] = 3;
    }
    return value;
  });
  assert.equal(await results.run('q', 5000, async () => 'called again'), 'called again');
  assert.equal(step, 2);
});
