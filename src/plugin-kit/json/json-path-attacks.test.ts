import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { type JsonValue, parseJson } from './json.ts';
import { jsonField } from './json-field.ts';
import { compileJsonPath } from './json-path.ts';
import { JsonPathError } from './json-path-types.ts';

/** Generous: what these tests are about takes minutes, or for ever. */
const limit = 5_000;

function timed(run: () => void): void {
  const begin = cpuTime();
  run();
  const took = cpuTime() - begin;
  assert.ok(took < limit, `it took ${Math.round(took)} ms`);
}

function nested(levels: number, inner: JsonValue = 1): JsonValue {
  let value = inner;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

test('an expression in a filter cannot backtrack over a hostile text', () => {
  const hostile: JsonValue = [{ s: `${'a'.repeat(100_000)}!` }];
  for (const pattern of ['(a+)+', '(a|a)*b', '(a*)*c', '([a-z]+)*d']) {
    timed(() => assert.deepEqual(compileJsonPath(`$[?match(@.s, '${pattern}')]`).values(hostile), [], pattern));
    timed(() => compileJsonPath(`$[?search(@.s, '^(${pattern})$')]`).values(hostile));
  }
});

test('an expression that comes from the document, or that the engine cannot bound, is refused', () => {
  for (const path of [
    '$[?match(@.s, @.pattern)]',
    '$[?search(@.s, $.pattern)]',
    '$[?search(@.s, "(?=a)")]',
    '$[?match(@.s, "(a)\\\\1")]',
    '$[?match(@.s, "(")]',
    `$[?match(@.s, "(a{1000}){1000}")]`,
  ]) {
    assert.throws(() => compileJsonPath(path), JsonPathError, path);
  }
});

test('a descent neither overflows the stack nor looks twice', () => {
  const deep = nested(200_000);
  timed(() => assert.deepEqual(compileJsonPath('$..b').values(deep), []));
  timed(() => assert.equal(compileJsonPath('$..a..[0]..a').values(deep).length, 99_999));
  const wide = parseJson(`[${'[[[[[[[[1]]]]]]]],'.repeat(5_000)}0]`);
  timed(() => compileJsonPath('$..*..*..*..*').values(wide));
  timed(() => compileJsonPath('$..[0]').remove(wide));
});

test('the levels that a filter looks at are bounded', () => {
  assert.deepEqual(compileJsonPath('$[?@.x == 1]').values(nested(500)), []);
  assert.throws(() => compileJsonPath('$[?@.x == @.y]').values(nested(200_000)), JsonPathError);
});

test('paths whose work would grow beyond the size of the document are refused', () => {
  for (const path of [
    `$${'..a'.repeat(5)}`,
    `$${'.a'.repeat(65)}`,
    `$${'[0,0]'.repeat(30)}`,
    `$${'[*,*]'.repeat(5)}`,
    `$[?@${'[0,0]'.repeat(30)}]`,
    `$[?@${'[0,-1]'.repeat(30)}]`,
    `$[?@[?@${'[*,*]'.repeat(30)}]]`,
    '$[?@..a]',
    '$[?count($.*) > 1]',
    '$[?count($..*) > 1]',
    '$..[?@.a == $.b]',
    '$..[?@.a == @.b]',
    '$..[?value(@.a) == $.b]',
    '$..[?@[?@.a == $.b]]',
    `$[?${'('.repeat(5_000)}@.a${')'.repeat(5_000)}]`,
    `$${'[?@'.repeat(2_500)}${']'.repeat(2_500)}`,
    `$[?@.a == '${'a'.repeat(10_000)}']`,
  ]) {
    timed(() => assert.throws(() => compileJsonPath(path), JsonPathError, path.slice(0, 40)));
  }
  for (const path of ["$['a','b','c','d','e','f','g','h'].x['a','b','c','d'].y", '$[0,1,2,3].a', '$[?@.a == $.b]']) {
    assert.doesNotThrow(() => compileJsonPath(path), path);
  }
});

test('filters take a time that is linear in a hostile document', () => {
  const many: JsonValue = Array.from({ length: 10_000 }, (_, at) => ({ a: [at, [at]], b: 'x'.repeat(10) }));
  for (const path of [
    "$..[?@.b == 'x']",
    '$..[?@[*][*]]',
    '$[?@.a == $[0].a]',
    '$..[?length(@.b) > 9 && search(@.b, "y")]',
    '$[*].a[?@[?@ == 7]]',
  ]) {
    timed(() => compileJsonPath(path).values(many));
  }
});

test('neither a path nor a filter reaches prototypes', () => {
  const root = parseJson('[{"__proto__":{"x":1}},{"a":1}]');
  assert.deepEqual(compileJsonPath('$[?@.constructor]').values(root), []);
  assert.deepEqual(compileJsonPath('$[*].toString').values(root), []);
  assert.equal(compileJsonPath('$[?@.__proto__]').values(root).length, 1);
  assert.equal(compileJsonPath("$['__proto__','constructor'].polluted").set({}, 'yes', { create: true }), 2);
  assert.equal(({} as { polluted?: string }).polluted, undefined);
});

test('a member that bears the text of a path hides nothing from it', () => {
  const root = { '$.user.role': 'decoy', user: { role: 'admin' } };
  assert.equal(jsonField('$.user.role').remove(root), 1);
  assert.deepEqual(root, { '$.user.role': 'decoy', user: {} });
});

test('filters compare numbers whose digits are kept', () => {
  const text =
    '[{"n":12345678901234567890},{"n":1.10000000000000000000},{"n":1e400},{"n":1e0,"deep":[{"n":2}]},{"n":"1"}]';
  const counts = { '$[?@.n > 2]': 2, '$[?@.n == 1.1]': 1, '$[?@.n == 1]': 1, '$[?@.n < 2]': 2, '$..[?@.n >= 1]': 5 };
  for (const [path, count] of Object.entries(counts)) {
    assert.equal(compileJsonPath(path).values(parseJson(text)).length, count, path);
  }
  const root = parseJson(text);
  assert.equal(compileJsonPath('$[?@.n > 2].n').values(root).length, 2);
  assert.equal(compileJsonPath('$[?@.n < 2]').remove(root), 2);
  assert.equal(JSON.stringify(root), '[{"n":12345678901234567890},{"n":1e400},{"n":"1"}]');
});
