import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Figure, figure } from '../figures/figures.ts';
import { confirm, differences, isRegression } from './difference.ts';

const row = (gateway: number | readonly number[], unit = 'µs'): Figure =>
  figure({ scenario: 'plain', what: 'CPU', unit, gateway });

function compare(before: Figure, after: Figure): ReturnType<typeof differences>[number] {
  const [found] = differences([before], [after]);
  assert.ok(found !== undefined);
  return found;
}

it('differences() is certain of a change that every pair of rounds shows, however much the machine drifts', () => {
  const found = compare(row([20, 40, 30, 25, 60]), row([22, 44.4, 33, 27.4, 66]));
  assert.ok(Math.abs(found.change - 0.1) < 0.005, String(found.change));
  assert.equal(found.verdict, 'worse');
  assert.ok(isRegression(found, 0.05));
  assert.ok(!isRegression(found, 0.2));
});

it('differences() has the interval of the t distribution', () => {
  // Logarithms of the ratios: 0.1, 0.2, 0.3; mean 0.2, standard error 0.1 / sqrt(3), quantile 4.303.
  const found = compare(row([1, 1, 1]), row([Math.exp(0.1), Math.exp(0.2), Math.exp(0.3)]));
  assert.ok(found.interval !== null);
  const [low, high] = found.interval.map((bound) => Math.log1p(bound));
  assert.ok(Math.abs(low! - (0.2 - 0.2484)) < 1e-3 && Math.abs(high! - (0.2 + 0.2484)) < 1e-3);
  assert.equal(found.verdict, 'unclear');
  assert.ok(!isRegression(found, 0.05));
});

it('differences() does not take noise for a change', () => {
  assert.equal(compare(row([20, 22, 21, 20]), row([21, 20, 22, 21])).verdict, 'unclear');
});

it('differences() knows that more requests per second are better', () => {
  assert.equal(compare(row([100, 101, 100], '/s'), row([120, 121, 121], '/s')).verdict, 'better');
  assert.equal(compare(row([120, 121, 121], '/s'), row([100, 101, 100], '/s')).verdict, 'worse');
});

it('differences() has no interval for what was measured once, nor for what is 0', () => {
  const once = compare(row(100), row(150));
  assert.deepEqual([once.interval, once.verdict], [null, 'unclear']);
  assert.ok(Math.abs(once.change - 0.5) < 1e-9);
  const none = compare(row([0, 0]), row([0, 1]));
  assert.deepEqual([none.interval, none.verdict], [null, 'unclear']);
});

it('differences() leaves out rows that only one commit has', () => {
  const other = figure({ scenario: 'plain', what: 'another', unit: 'µs', gateway: 1 });
  assert.deepEqual(differences([row(1)], [other]), []);
});

it('differences() finds no change where nothing changed', () => {
  assert.equal(compare(row([5, 6, 7]), row([5, 6, 7])).verdict, 'unclear');
});

it('differences() shows rows with the same rounds once', () => {
  const rows = ['CPU', 'the same, compared with HAProxy'].map((what) =>
    figure({ scenario: 'plain', what, unit: 'µs', gateway: [3, 4], peer: [1, 2] }),
  );
  assert.deepEqual(
    differences(rows, rows).map(({ what }) => what),
    ['CPU'],
  );
});

it('confirm() takes a row for worse only if the second measurement agrees, by the smaller change', () => {
  const worse = compare(row([20, 40, 30]), row([30, 60, 45]));
  const less = compare(row([20, 40, 30]), row([22, 44, 33]));
  const unclear = compare(row([20, 22, 21]), row([21, 20, 22]));
  assert.deepEqual(confirm([worse], [less]), [less]);
  assert.deepEqual(confirm([less], [worse]), [less]);
  assert.deepEqual(
    confirm([worse], [unclear]).map(({ verdict }) => verdict),
    ['unclear'],
  );
  assert.deepEqual(confirm([unclear], [worse]), [unclear]);
});
