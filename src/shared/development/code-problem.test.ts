import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemAt, problemOf, shownPath } from './code-problem.ts';

const failure = { plugin: 'my-policy', title: 'failed in access' };
const place = { file: '/srv/my-policy/handler.ts', line: 12, column: 9 };

test('a message names files as the person does, without their versions, and its place only once', () => {
  const message =
    "no 'file:///srv/my-policy/a.ts?version=0123456789abcdef' for '/srv/my-policy/b.ts' (/srv/my-policy/handler.ts:12:9)";
  const problem = problemAt(failure, message, place, '/srv/my-policy');
  assert.equal(problem.message, "no 'a.ts' for 'b.ts'");
  assert.equal(problem.place, 'handler.ts:12:9');
});

test('a path outside the working directory is shown from there', () => {
  assert.equal(shownPath('/srv/shared/words.ts', '/srv/my-policy'), '../shared/words.ts');
});

for (const thrown of [
  undefined,
  null,
  'text',
  3n,
  Symbol('x'),
  Object.create(null),
  new Proxy({}, { get: () => bad() }),
]) {
  test(`any thrown value is a problem with a message: ${typeof thrown}`, () => {
    assert.equal(typeof problemOf(failure, thrown, '/srv').message, 'string');
  });
}

function bad(): never {
  throw new Error('not for you');
}

test('a message is cut', () => {
  assert.ok(problemOf(failure, new Error('x'.repeat(1e6)), '/srv').message.length <= 4000);
});
