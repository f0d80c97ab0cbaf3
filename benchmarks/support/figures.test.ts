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
