import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedAnswers, sharedAnswersSize } from './shared-answers.ts';

function two() {
  const memory = new SharedArrayBuffer(sharedAnswersSize);
  return [new SharedAnswers(memory), new SharedAnswers(memory)] as const;
}

test('workers that ask the same at once get one answer, and later ones too', async () => {
  const [one, other] = two();
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<string>();
  const ask = () => {
    asked += 1;
    return promise;
  };
  const answers = Promise.all([one, other, one, other].map((each) => each.find('q', 5000, ask)));
  resolve('the answer: ä');
  assert.deepEqual(new Set(await answers), new Set(['the answer: ä']));
  assert.equal(await other.find('q', 5000, ask), 'the answer: ä');
  assert.equal(asked, 1);
  assert.equal(await other.find('p', 5000, async () => 'another'), 'another');
});

test('null is an answer; a failure is none', async () => {
  const [one, other] = two();
  assert.equal(await one.find('q', 5000, async () => null), null);
  assert.equal(await other.find('q', 5000, async () => 'x'), null);
  await assert.rejects(
    one.find('p', 5000, () => Promise.reject(new Error('away'))),
    /away/,
  );
  assert.equal(await other.find('p', 5000, async () => 'x'), 'x');
});

test('nobody waits longer than told, and answers are forgotten', async (t) => {
  const [one, other] = two();
  void one.find('q', 5000, () => new Promise(() => {}));
  assert.equal(await other.find('q', 20, async () => 'own'), 'own');
  assert.equal(await one.find('r', 5000, async () => 'r'), 'r');
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 62_000 });
  assert.equal(await other.find('q', 5000, async () => 'again'), 'again');
  assert.equal(await other.find('r', 5000, async () => 'new'), 'new');
});

test('what does not fit is asked for by each', async () => {
  const [one, other] = two();
  const long = 'x'.repeat(20_000);
  assert.equal(await one.find('q', 5000, async () => long), long);
  assert.equal(await other.find('q', 5000, async () => 'short'), 'short');
});

test('a slot that another worker takes while it is read gives nobody the session of another', async (t) => {
  const memory = new SharedArrayBuffer(sharedAnswersSize);
  const answers = new SharedAnswers(memory);
  assert.equal(await answers.find('q', 5000, async () => 'of q'), 'of q');
  const words = new Int32Array(memory);
  const at = words.findIndex((word, index) => index % 4096 === 0 && word !== 0);
  const load = Atomics.load.bind(Atomics) as (array: Int32Array, index: number) => number;
  let step = 0;
  t.mock.method(Atomics, 'load', (array: Int32Array, index: number) => {
    const value = load(array, index);
    if (index === at && step === 0) {
      // The other worker claims the slot, and is about to write its key.
      step = 1;
      words[at] = 1;
      words[at + 1]! += 1;
    } else if (index === at + 2 && step === 1) {
      // It has its answer.
      step = 2;
      words.fill(0, at + 4, at + 8);
      Buffer.from(memory).write('of p', at * 4 + 32);
      words[at] = 3;
    }
    return value;
  });
  assert.equal(await answers.find('q', 5000, async () => 'asked anew'), 'asked anew');
  assert.equal(step, 2);
});
