import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaViolation } from '../schema/errors.ts';
import { decodeForm, parseUrlencoded } from '../schema/form.ts';
import { rsaCertificate } from './certificates.fixture.ts';
import type { EntityDefinition } from './entity.ts';
import { NOW } from './expect-row.fixture.ts';
import { testRegistry } from './registry.fixture.ts';
import { applyPatch, buildRow, inferInput, presentRow } from './rows.ts';

const SEED = 20260701;
const BODIES = 400;

/** A small repeatable generator: the same bodies in every run. */
function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const texts = [
  '',
  ' ',
  'a',
  'http',
  'https',
  'limiter',
  'code',
  '/a',
  '~/(',
  '*',
  '1.2.3.4',
  '::1',
  '[',
  'a:80',
  'http://',
  '{vault://x}',
  rsaCertificate,
  '\u0000',
  '\ud800',
  'x'.repeat(5000),
  '__proto__',
  '9e999',
  'ip',
  'header',
  'tcp',
  '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10',
];
const numbers = [0, -1, 1, 1.5, 1e300, 2 ** 53, -0];
const names = ['id', 'name', 'host', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '@entity', '1', 'a.b'];

function randomValue(random: () => number, depth: number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const kind = Math.floor(random() * (depth > 3 ? 4 : 7));
  if (kind === 0) return null;
  if (kind === 1) return random() < 0.5;
  if (kind === 2) return pick(numbers);
  if (kind === 3) return pick(texts);
  const size = Math.floor(random() * 4);
  if (kind === 4) return Array.from({ length: size }, () => randomValue(random, depth + 1));
  const entries = Array.from({ length: size }, () => [pick(names), randomValue(random, depth + 1)]);
  return Object.fromEntries(entries);
}

function randomBody(random: () => number, definition: EntityDefinition): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const name of [...definition.schema.fields.keys(), 'url', 'unknown']) {
    if (random() < 0.4) body[name] = randomValue(random, 0);
  }
  return body;
}

for (const definition of testRegistry().definitions) {
  test(`no body makes ${definition.name} throw (seed ${SEED}, ${BODIES} bodies)`, () => {
    const random = randomSource(SEED);
    for (let count = 0; count < BODIES; count += 1) {
      const body = randomBody(random, definition);
      for (const input of [body, inferInput(definition, body)]) {
        const result = buildRow(definition, input, { now: NOW });
        if (!result.ok) {
          const { message, fields } = schemaViolation(result.error.fields).body;
          assert.match(message, /^(?:schema violation|\d+ schema violations) \(/);
          assert.notEqual(JSON.stringify(fields), '{}', JSON.stringify(input));
          continue;
        }
        const shown = presentRow(definition, result.row, result.virtual);
        assert.deepEqual(Object.keys(shown), [...definition.schema.fields.keys()]);
        applyPatch(definition, result.row, randomBody(random, definition), { now: NOW });
      }
    }
    assert.equal(Object.keys(Object.prototype).length, 0);
  });
}

test('no form throws', () => {
  const random = randomSource(SEED);
  const pieces = ['a', '[', ']', '.', '=', '&', '%', '%zz', '%5B', '1', '[]', '__proto__', '\u00e9', '+', '[1]'];
  for (let count = 0; count < 5000; count += 1) {
    const length = Math.floor(random() * 12);
    const body = Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)]).join('');
    const pairs = parseUrlencoded(body);
    if (pairs !== null) decodeForm(pairs);
  }
  assert.equal(Object.keys(Object.prototype).length, 0);
});
