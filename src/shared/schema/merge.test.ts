import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, map } from './collections.ts';
import { integer, string } from './fields.ts';
import { mergePatch } from './merge.ts';
import { record } from './record.ts';

const schema = record(
  {
    name: string(),
    list: array(string()),
    limits: map(string(), integer()),
    redis: record({ host: string(), port: integer({ default: 6379 }), tls: record({ name: string(), on: string() }) }),
  },
  { shorthands: { redis_host: { field: string(), replacedWith: ['redis', 'host'] } } },
);

const stored = {
  name: 'a',
  list: ['x', 'y'],
  limits: { one: 1, two: 2 },
  redis: { host: 'h', port: 1, tls: { name: 'n', on: 'yes' } },
};

const cases: readonly [what: string, patch: Record<string, unknown>, changed: Record<string, unknown>][] = [
  ['an empty patch changes nothing', {}, {}],
  ['a scalar is replaced', { name: 'b' }, { name: 'b' }],
  ['null clears', { name: null, redis: null }, { name: null, redis: null }],
  ['a list is replaced as a whole', { list: ['z'] }, { list: ['z'] }],
  ['a map is replaced as a whole', { limits: { three: 3 } }, { limits: { three: 3 } }],
  [
    'records are merged at every level',
    { redis: { port: 2, tls: { on: 'no' } } },
    { redis: { host: 'h', port: 2, tls: { name: 'n', on: 'no' } } },
  ],
  [
    'a shorthand is expanded first',
    { redis_host: 'new' },
    { redis: { host: 'new', port: 1, tls: { name: 'n', on: 'yes' } } },
  ],
  ['an unknown field stays, so that it is reported', { other: 1 }, { other: 1 }],
];

for (const [what, patch, changed] of cases) {
  test(what, () => {
    assert.deepEqual(mergePatch(schema, stored, patch), { ...stored, ...changed });
  });
}

test('a field named __proto__ does not change the prototype', () => {
  const merged = mergePatch(schema, stored, JSON.parse('{"__proto__":{"polluted":true}}'));
  assert.equal(Object.getPrototypeOf(merged), Object.prototype);
  assert.ok(Object.hasOwn(merged, '__proto__'));
});
