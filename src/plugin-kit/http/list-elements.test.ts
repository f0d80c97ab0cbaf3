import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { listElements } from './list-elements.ts';

test('elements of a list, trimmed, without empty ones', () => {
  assert.deepEqual(listElements(' a , b;q=1,, c\t,'), ['a', 'b;q=1', 'c']);
  assert.deepEqual(listElements(''), []);
});

test('commas within quotation marks and angle brackets separate nothing', () => {
  assert.deepEqual(listElements('a; x="1,\\",2", </p?a,b>; rel="x, y", c'), [
    'a; x="1,\\",2"',
    '</p?a,b>; rel="x, y"',
    'c',
  ]);
});

test('what is not closed goes to the end, and ends', () => {
  for (const text of ['a, "b, c', 'a, <b, c', 'a, "b, c\\']) assert.deepEqual(listElements(text), ['a', text.slice(3)]);
});

test('a text made to be slow is read in one pass', () => {
  const text = '"\\'.repeat(500_000);
  const start = cpuTime();
  assert.equal(listElements(text).length, 1);
  assert.ok(cpuTime() - start < 500);
});
