import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listProblems, supportProblem, unmentioned } from './test-index.ts';

const list = `| number | attack | tests |
|---|---|---|
| 1 | lengths | [a](01-lengths.test.ts), [b](01-more.test.ts) |
| 2 | names | in one plugin: [names](../../src/plugins/a/names.test.ts) |
`;

test('accepts a list whose rows have all files of their number', () => {
  assert.deepEqual(listProblems(list, ['01-lengths.test.ts', '01-more.test.ts']), []);
});

test('reports a file that is not in its row, or has no number', () => {
  assert.deepEqual(listProblems(list, ['02-lengths.test.ts', 'more.test.ts']), [
    '02-lengths.test.ts is not in the row of its number',
    'more.test.ts is not in the row of its number',
  ]);
});

test('reports a row without a test, and a gap in the numbers', () => {
  assert.deepEqual(listProblems(`${list}| 4 | clients | none |`, []), [
    '4 is not the number after the row before it',
    '4 has no test',
  ]);
});

test('reports names that an index does not mention in backticks', () => {
  assert.deepEqual(unmentioned('`redis.ts` starts redis.\nrig.ts', ['redis.ts', 'rig.ts']), ['rig.ts']);
});

test('reports test support outside of the convention', () => {
  assert.equal(supportProblem('src/a/a.fixture.ts'), null);
  assert.equal(supportProblem('src/a/testing/b.ts'), null);
  assert.match(supportProblem('src/a/a.fixtures.ts') ?? '', /fixture\.ts/);
  assert.match(supportProblem('src/a/helpers/b.ts') ?? '', /testing\//);
});
