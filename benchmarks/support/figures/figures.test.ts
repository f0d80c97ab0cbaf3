import assert from 'node:assert/strict';
import { it } from 'node:test';
import { figure, median, percentile } from './figures.ts';

it('median() is the middle, or the mean of the two in the middle', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
});

it('percentile() is the smallest value that this share does not exceed', () => {
  const values = Array.from({ length: 100 }, (_, index) => index + 1);
  assert.equal(percentile(values, 99), 99);
  assert.equal(percentile([7], 99), 7);
});

it('figure() says whether a ratio or a value reaches its aim', () => {
  const base = { scenario: 's', what: 'w', unit: 'ms', gateway: 3 };
  assert.deepEqual(
    [figure({ ...base, peer: 2, maxRatio: 1.6 }).met, figure({ ...base, peer: 1, maxRatio: 1.6 }).met],
    [true, false],
  );
  assert.deepEqual([figure({ ...base, max: 3 }).met, figure({ ...base, max: 2 }).met], [true, false]);
  assert.equal(figure(base).met, null);
});

it("figure() shows medians, the median of the rounds' ratios and how far they spread", () => {
  const row = figure({ scenario: 's', what: 'w', unit: 'µs', gateway: [30, 66, 33], peer: [20, 60, 30] });
  assert.equal(row.gateway, 33);
  assert.equal(row.peer, 30);
  // One round was disturbed: 1.5, 1.1, 1.1.
  assert.equal(row.ratio, 1.1);
  assert.deepEqual(row.spread, { min: 1.1, max: 1.5 });
  assert.deepEqual(row.rounds, [30, 66, 33]);
});

it('figure() without a peer spreads over the values; a single measurement has no spread', () => {
  assert.deepEqual(figure({ scenario: 's', what: 'w', unit: 'ms', gateway: [3, 1, 2] }).spread, { min: 1, max: 3 });
  assert.equal(figure({ scenario: 's', what: 'w', unit: 'ms', gateway: 3, peer: 2 }).spread, null);
});

it('figure() says whether a minimum is reached', () => {
  const base = { scenario: 's', what: 'w', unit: '/s', gateway: 900 };
  assert.deepEqual([figure({ ...base, min: 900 }).met, figure({ ...base, min: 1000 }).met], [true, false]);
});
