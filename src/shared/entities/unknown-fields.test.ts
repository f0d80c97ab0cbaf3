import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, map } from '../schema/collections.ts';
import { autoId, createdAt } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';
import { NOW, patched } from './expect-row.fixture.ts';
import { applyPut } from './rows.ts';

const pair = record({ key: string() });
const things = defineEntity({
  name: 'things',
  schema: record({
    id: autoId(),
    name: string(),
    created_at: createdAt(),
    config: record({ a: string(), inner: record({ b: string() }), list: array(pair), map: map(string(), pair) }),
  }),
} as unknown as Parameters<typeof defineEntity>[0]);

/** As a later version has stored it. */
const stored = {
  id: '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10',
  created_at: 1000,
  name: 'one',
  added: { x: [1] },
  config: {
    a: 'a',
    added: 1,
    inner: { b: 'b', added: 2 },
    list: [{ key: 'k', added: 3 }],
    map: { m: { key: 'k', added: 4 } },
  },
};

test('a PATCH keeps what only a later version knows', () => {
  assert.deepEqual(patched(things, stored, { name: 'two', config: { inner: { b: 'new' } } }), {
    ...stored,
    name: 'two',
    config: { ...stored.config, inner: { b: 'new', added: 2 } },
  });
});

test('a list that a PATCH changes is replaced as a whole', () => {
  const config = patched(things, stored, { config: { list: [{ key: 'new' }] } })['config'];
  assert.deepEqual(config, { ...stored.config, list: [{ key: 'new' }] });
});

test('a PUT keeps it too', () => {
  const input = { name: 'two', config: { a: 'c', list: [{ key: 'k' }] } };
  const result = applyPut(things, input, { now: NOW, id: stored.id, before: stored });
  assert.ok(result.ok);
  assert.deepEqual(result.row['added'], stored.added);
  assert.deepEqual(result.row['config'], {
    a: 'c',
    added: 1,
    inner: { b: null, added: 2 },
    list: [{ key: 'k', added: 3 }],
    map: null,
  });
});

test('a field that the client sends and nobody knows is still refused', () => {
  const result = applyPut(things, { name: 'two', added: 1 }, { now: NOW, id: stored.id, before: stored });
  assert.ok(!result.ok);
  assert.deepEqual(result.error.fields, { added: 'unknown field' });
});
