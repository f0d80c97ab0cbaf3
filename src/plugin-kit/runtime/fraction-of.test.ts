import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fractionOf } from './index.ts';

test('the fraction of a key is stable, within its range, and even', () => {
  assert.equal(fractionOf('ada', 'beta'), fractionOf('ada', 'beta'));
  assert.notEqual(fractionOf('ada', 'beta'), fractionOf('ada', 'gamma'));
  const fractions = Array.from({ length: 10_000 }, (_, at) => fractionOf(`user-${at}`));
  assert.ok(fractions.every((fraction) => fraction >= 0 && fraction < 1));
  for (const rate of [0.01, 0.1, 0.5]) {
    const share = fractions.filter((fraction) => fraction < rate).length / fractions.length;
    assert.ok(Math.abs(share - rate) < 0.02, `${share} for ${rate}`);
  }
});
