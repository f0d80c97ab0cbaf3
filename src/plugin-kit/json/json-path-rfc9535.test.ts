import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { JsonValue } from './json.ts';
import { compileJsonPath } from './json-path.ts';
import { selectPlaces } from './json-path-query.ts';
import { JsonPathError } from './json-path-types.ts';
import { memberOf } from './json-places.ts';
import { parseJsonQuery } from './json-query.ts';

const { jsonpath } = createRequire(import.meta.url)('json-p3') as typeof import('json-p3');

/** What the query selects, in its order; `$` too, which is no path to something below the root. */
function selected(path: string, root: JsonValue): readonly (JsonValue | undefined)[] {
  return selectPlaces(root, parseJsonQuery(path)).map(({ container, key }) => memberOf(container, key));
}

const store = {
  store: {
    book: [
      { category: 'reference', author: 'Nigel Rees', title: 'Sayings of the Century', price: 8.95 },
      { category: 'fiction', author: 'Evelyn Waugh', title: 'Sword of Honour', price: 12.99 },
      { category: 'fiction', author: 'Herman Melville', title: 'Moby Dick', isbn: '0-553-21311-3', price: 8.99 },
      {
        category: 'fiction',
        author: 'J. R. R. Tolkien',
        title: 'The Lord of the Rings',
        isbn: '0-395-19395-8',
        price: 22.99,
      },
    ],
    bicycle: { color: 'red', price: 399 },
  },
};
const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const filtered = {
  a: [3, 5, 1, 2, 4, 6, { b: 'j' }, { b: 'k' }, { b: {} }, { b: 'kilo' }],
  o: { p: 1, q: 2, r: 3, s: 5, t: { u: 6 } },
  e: 'f',
};
const descended = { o: { j: 1, k: 2 }, a: [5, 3, [{ j: 4 }, { k: 6 }]] };
const nulls = { a: null, b: [null], c: [{}], null: 1 };
const quoted = { 'j j': 1, "'": { '@': 2 }, '"': 3, '☺': 4, '': 5 };

/** The tables of RFC 9535 and of its compliance test suite, in excerpts: path, document, values. */
const cases: readonly (readonly [path: string, root: JsonValue, values: readonly unknown[]])[] = [
  ['$', { k: 'v' }, [{ k: 'v' }]],
  ['$.store.book[*].author', store, ['Nigel Rees', 'Evelyn Waugh', 'Herman Melville', 'J. R. R. Tolkien']],
  ['$..author', store, ['Nigel Rees', 'Evelyn Waugh', 'Herman Melville', 'J. R. R. Tolkien']],
  ['$.store..price', store, [8.95, 12.99, 8.99, 22.99, 399]],
  ['$..book[2].author', store, ['Herman Melville']],
  ['$..book[2].publisher', store, []],
  ['$..book[-1].title', store, ['The Lord of the Rings']],
  ['$..book[0,1].title', store, ['Sayings of the Century', 'Sword of Honour']],
  ['$..book[:2].title', store, ['Sayings of the Century', 'Sword of Honour']],
  ['$..book[?@.isbn].title', store, ['Moby Dick', 'The Lord of the Rings']],
  ['$..book[?@.price<10].title', store, ['Sayings of the Century', 'Moby Dick']],
  ["$['j j']", quoted, [1]],
  ["$['\\'']['@']", quoted, [2]],
  ['$["\\""]', quoted, [3]],
  ['$.☺', quoted, [4]],
  ['$["\\u263A"]', quoted, [4]],
  ["$['']", quoted, [5]],
  ['$[1]', letters, ['b']],
  ['$[-2]', letters, ['f']],
  ['$[9]', letters, []],
  ['$[-9]', letters, []],
  ['$[0]', { 0: 'a' }, []],
  ["$['0']", ['a'], []],
  ['$[1:3]', letters, ['b', 'c']],
  ['$[5:]', letters, ['f', 'g']],
  ['$[1:5:2]', letters, ['b', 'd']],
  ['$[5:1:-2]', letters, ['f', 'd']],
  ['$[::-1]', letters, ['g', 'f', 'e', 'd', 'c', 'b', 'a']],
  ['$[::0]', letters, []],
  ['$[-3:]', letters, ['e', 'f', 'g']],
  ['$[:-5]', letters, ['a', 'b']],
  ['$[9:2:-3]', letters, ['g', 'd']],
  ['$[1:3]', { 1: 'a' }, []],
  ['$[0,3]', letters, ['a', 'd']],
  ['$[0:2,5]', letters, ['a', 'b', 'f']],
  ['$[0,0]', letters, ['a', 'a']],
  ['$[*,1]', ['a', 'b'], ['a', 'b', 'b']],
  ["$['b','a']", { a: 1, b: 2 }, [2, 1]],
  ['$.*', { a: 1, b: [2] }, [1, [2]]],
  ['$[*]', 'text', []],
  ['$..j', descended, [1, 4]],
  ['$..[0]', descended, [5, { j: 4 }]],
  ['$..*', [[1], 2], [[1], 2, 1]],
  ['$.a..[0,1]', descended, [5, 3, { j: 4 }, { k: 6 }]],
  ['$..o', descended, [{ j: 1, k: 2 }]],
  ["$.a[?@.b == 'kilo']", filtered, [{ b: 'kilo' }]],
  ["$.a[?(@.b == 'kilo')]", filtered, [{ b: 'kilo' }]],
  ['$.a[?@>3.5]', filtered, [5, 4, 6]],
  ['$.a[?@.b]', filtered, [{ b: 'j' }, { b: 'k' }, { b: {} }, { b: 'kilo' }]],
  ['$[?@.*]', filtered, [filtered.a, filtered.o]],
  ['$[?@[?@.b]]', filtered, [filtered.a]],
  ['$.o[?@<3, ?@<3]', filtered, [1, 2, 1, 2]],
  ['$.a[?@<2 || @.b == "k"]', filtered, [1, { b: 'k' }]],
  ['$.a[?match(@.b, "[jk]")]', filtered, [{ b: 'j' }, { b: 'k' }]],
  ['$.a[?search(@.b, "[jk]")]', filtered, [{ b: 'j' }, { b: 'k' }, { b: 'kilo' }]],
  ['$.o[?@>1 && @<4]', filtered, [2, 3]],
  ['$.o[?@.u || @.x]', filtered, [{ u: 6 }]],
  ['$.a[?@.b == $.x]', filtered, [3, 5, 1, 2, 4, 6]],
  ['$.a[?@ == @]', filtered, filtered.a],
  ['$.a[?!(@.b)]', filtered, [3, 5, 1, 2, 4, 6]],
  ['$[?length(@) < 3]', ['a', [1, 2, 3], { b: 1 }, 5], ['a', { b: 1 }]],
  ['$[?length(@) == 1]', ['😀', 'ab'], ['😀']],
  ['$[?count(@.*) > 1]', [[1], [1, 2], { a: 1, b: 2 }], [[1, 2], { a: 1, b: 2 }]],
  ['$[?value(@.*) == 4]', [[4], { a: 4 }, [5], []], [[4], { a: 4 }]],
  ['$[?match(@, "a.c")]', ['abc', 'a\nc', 'a\u2028c', 'abcd', 5], ['abc', 'a\u2028c']],
  ["$[?@ <= 'b']", ['a', 'b', 'c', 1], ['a', 'b']],
  ['$[?@ == null]', [null, 0, false], [null]],
  ['$[?@.a == null]', [{ a: null }, {}], [{ a: null }]],
  ['$[?@.a != 1]', [{ a: 1 }, {}, { a: '1' }], [{}, { a: '1' }]],
  ['$[?@ == -0]', [0, 1], [0]],
  ['$[?@ == 1e1]', [10, '10'], [10]],
  ['$.a', nulls, [null]],
  ['$.a[0]', nulls, []],
  ['$.b[0]', nulls, [null]],
  ['$.b[?@]', nulls, [null]],
  ['$.null', nulls, [1]],
  ['$ .a [ 0 ]', { a: [7] }, [7]],
];

/** Invalid by the RFC. */
const invalid = [
  '',
  ' $',
  '$ ',
  'a',
  '.a',
  '$.',
  '$..',
  '$...a',
  '$a',
  '$.[a]',
  '$[',
  '$[]',
  '$[a]',
  '$.a b',
  '$[01]',
  '$[-0]',
  '$[1.0]',
  '$[1:2:3:4]',
  '$[0',
  "$['a]",
  "$['\\x']",
  "$['\\']",
  '$["\n"]',
  '$[9007199254740992]',
  '$[:9007199254740992]',
  '$[?]',
  '$[?@.a=1]',
  '$[?@.a==]',
  '$[?1]',
  "$[?'a']",
  '$[?true]',
  '$[?@.* == 1]',
  '$[?@..a == 1]',
  '$[?length(@.*) > 1]',
  '$[?count(1) == 1]',
  '$[?length(@)]',
  '$[?match(@.a, "a") == true]',
  '$[?nothing(@)]',
  '$[?@.a===1]',
  '$[?(@.a]',
  '$[?@.a == [1]]',
  '$[(@.length-1)]',
  '$.a.~',
  '$[?@.a =~ /a/]',
];

test('queries select what RFC 9535 says, in its order', () => {
  for (const [path, root, values] of cases) assert.deepEqual(selected(path, root), values, path);
});

test('a compiled path finds the same, fast or not', () => {
  for (const [path, root, values] of cases.slice(1)) assert.deepEqual(compileJsonPath(path).values(root), values, path);
});

test('what RFC 9535 does not allow is refused', () => {
  for (const path of invalid) assert.throws(() => parseJsonQuery(path), JsonPathError, path);
});

const segments = [
  '.a',
  '.b',
  "['c d']",
  '.*',
  '[0]',
  '[-1]',
  '[1:]',
  '[::-1]',
  '[-2:]',
  "['b','a']",
  '[0,-1]',
  '[*,0]',
  '[?@.a]',
  '[?@ == 1]',
  "[?@ != 'x', 0]",
  '[?@[?@ == 1]]',
  '[?length(@) > 1]',
  '[?@.a == $.a]',
];

test('values are those of the library, in the same order, in random documents', () => {
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
    const parts = Array.from({ length: 1 + below(4) }, () => segments[below(segments.length)] as string);
    // One descent: of several the library gives a place for each way to it.
    if (below(2) === 0) parts[0] = `..${parts[0]?.replace(/^\./, '')}`;
    const path = `$${parts.join('')}`;
    const expected = jsonpath.query(path, root as never).values();
    assert.deepEqual(selected(path, root), expected, `${path} in ${JSON.stringify(root)} (SEED=${first})`);
  }
});
