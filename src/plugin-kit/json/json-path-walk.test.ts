import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { JsonValue } from './json.ts';
import { compileJsonPaths, type JsonPathState } from './json-path-walk.ts';

const { jsonpath } = createRequire(import.meta.url)('json-p3') as typeof import('json-p3');

/** The selected values as JSON pointers, unordered. */
function places(path: string, root: JsonValue): readonly string[] {
  const found: string[] = [];
  walk(root, compileJsonPaths([[path]]).start, '');
  return found.sort();

  function walk(value: JsonValue, state: JsonPathState, pointer: string): void {
    if (state.accepts.length > 0) found.push(pointer);
    if (Array.isArray(value)) {
      value.forEach((child, at) => {
        walk(child, state.element(at, value.length, child, root), `${pointer}/${at}`);
      });
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, child] of Object.entries(value)) {
        walk(child as JsonValue, state.member(name, child as JsonValue, root), `${pointer}/${name}`);
      }
    }
  }
}

/** The same, evaluated by the library. */
function expected(path: string, root: JsonValue): readonly string[] {
  const nodes = jsonpath.query(path, root as never).locations();
  return [...new Set(nodes.map((location) => location.map((step) => `/${step}`).join('')))].sort();
}

const selectors = [
  '.a',
  '.b',
  "['c d']",
  '.*',
  '[0]',
  '[-1]',
  '[1]',
  '[-9]',
  '[9]',
  '[:]',
  '[1:]',
  '[:-1]',
  '[::2]',
  '[::-1]',
  '[2:0:-1]',
  '[-2:]',
  '[5:1]',
  '[-1:-3:-1]',
  '[::0]',
  '[0,-1]',
  "['a','b',0]",
  '[*,0]',
  '..a',
  '..*',
  '..[0]',
  '..[-1:]',
  '[?@.a]',
  '[?@ == 1]',
  '[?@.a == 1 || @[0] > 0]',
  '[?!@.b]',
  '..[?@.a]',
  "[?@ != 'x']",
  '[?length(@) > 1]',
  "..[?search(@, 'x')]",
  '[?@.a == $.a]',
  '[?@.a < 2, 0]',
  '[?@[?@ == 1]]',
];

test('paths select the same values as the library, in random documents', () => {
  let seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31)) | 1;
  const first = seed;
  const below = (count: number): number => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return (seed >>> 0) % count;
  };
  const value = (depth: number): JsonValue => {
    const kind = below(depth === 0 ? 4 : 8);
    if (kind < 4) return ([1, 'x', null, 'xx'] as const)[kind] as JsonValue;
    if (kind < 6) return Array.from({ length: below(5) }, () => value(depth - 1));
    const names = ['a', 'b', 'c d', '__proto__', '0'].filter(() => below(2) === 0);
    return Object.fromEntries(names.map((name) => [name, value(depth - 1)]));
  };
  for (let round = 0; round < 1500; round++) {
    const root = JSON.parse(JSON.stringify(value(5))) as JsonValue;
    const path = `$${Array.from({ length: 1 + below(4) }, () => selectors[below(selectors.length)]).join('')}`;
    assert.deepEqual(places(path, root), expected(path, root), `${path} in ${JSON.stringify(root)} (SEED=${first})`);
  }
});
