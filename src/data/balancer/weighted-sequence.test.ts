import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { greatestCommonDivisor } from '../../shared/util/greatest-common-divisor.ts';
import { seeded } from './balancer.fixture.ts';
import { WeightedSequence } from './weighted-sequence.ts';

function round(sequence: WeightedSequence, from = 0): number[] {
  return Array.from({ length: sequence.size }, (_, turn) => sequence.at(from + turn));
}

function counted(order: readonly number[], kinds: number): number[] {
  const counts = new Array<number>(kinds).fill(0);
  for (const index of order) counts[index]!++;
  return counts;
}

/** The largest distance of any target from its even share, in slots. */
function deviation(order: readonly number[], weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const seen = weights.map(() => 0);
  let worst = 0;
  for (const [turn, index] of order.entries()) {
    seen[index]!++;
    const due = ((turn + 1) * weights[index]!) / total;
    worst = Math.max(worst, Math.abs(seen[index]! - due));
  }
  return worst;
}

test('each has as many slots as its weight divided by the greatest common divisor', () => {
  assert.deepEqual(counted(round(new WeightedSequence([100, 200, 700])), 3), [1, 2, 7]);
  assert.deepEqual(round(new WeightedSequence([100, 100, 100])), [0, 1, 2]);
  assert.equal(new WeightedSequence([]).size, 0);
  assert.equal(new WeightedSequence([65_535]).size, 1);
});

test('a large weight is spread evenly', () => {
  assert.deepEqual(round(new WeightedSequence([1, 3])), [1, 0, 1, 1]);
  assert.deepEqual(round(new WeightedSequence([3, 2, 1])), [0, 1, 0, 2, 1, 0]);
});

test('weights without a common divisor are exact', () => {
  const weights = [65_535, 65_534, 1, 30_011];
  const sequence = new WeightedSequence(weights);
  assert.equal(sequence.size, 65_535 + 65_534 + 1 + 30_011);
  assert.deepEqual(counted(round(sequence), 4), weights);
  assert.deepEqual(counted(round(sequence, 12_345_678), 4), weights, 'a round may begin anywhere');
});

test('1,000 of the greatest weights are a round that is built quickly', () => {
  const weights = Array.from({ length: 1000 }, (_, index) => 65_535 - index);
  const begun = cpuTime();
  const sequence = new WeightedSequence(weights);
  assert.ok(cpuTime() - begun < 100);
  const counts = counted(
    Array.from({ length: 1_000_000 }, (_, turn) => sequence.at(turn)),
    1000,
  );
  assert.ok(Math.min(...counts) > 980 && Math.max(...counts) < 1020, `${Math.min(...counts)}-${Math.max(...counts)}`);
});

test('a cursor of 32 bits is never out of the round', () => {
  for (const weights of [[3, 7], [65_535, 65_534, 65_521], Array.from({ length: 1000 }, (_, i) => 65_535 - i)]) {
    const sequence = new WeightedSequence(weights);
    for (const turn of [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, sequence.size - 1, sequence.size]) {
      assert.ok(weights[sequence.at(turn)] !== undefined);
    }
  }
});

test('shares are exact in every round and evenly spread within it', (t) => {
  const random = seeded((text) => t.diagnostic(text));
  for (let turn = 0; turn < 200; turn++) {
    const scale = [10, 100, 1000, 65_535][turn % 4]!;
    const weights = Array.from({ length: 1 + random(12) }, () => 1 + random(scale));
    const divisor = weights.reduce(greatestCommonDivisor, 0);
    const exact = weights.map((weight) => weight / divisor);
    const sequence = new WeightedSequence(weights);
    const order = round(sequence, random(2 ** 20));
    assert.deepEqual(counted(order, weights.length), exact, `${weights}`);
    const off = deviation(round(sequence), exact);
    assert.ok(off < 8, `${weights}: ${off} slots off an even share`);
  }
});
