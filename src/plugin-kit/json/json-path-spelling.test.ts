import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rfc9535Path } from './json-path.ts';
import { stepsOf } from './json-path-steps.ts';
import { JsonPathError } from './json-path-types.ts';
import { parseJsonQuery } from './json-query.ts';

const table: readonly (readonly [old: string, path: string])[] = [
  ['id', '$.id'],
  ['data.id', '$.data.id'],
  ['data.items[*].id', '$.data.items[*].id'],
  ['items[0]', '$.items[0]'],
  ['items[-1].sku', '$.items[-1].sku'],
  ['items[007]', '$.items[7]'],
  ['items[-0]', '$.items[0]'],
  ['[*].id', '$[*].id'],
  ['[2][3]', '$[2][3]'],
  ['first-name', "$['first-name']"],
  ['a.0.b', "$.a['0'].b"],
  ['a:b.c@d', "$['a:b']['c@d']"],
  ['a.*', "$.a['*']"],
  ['größe', '$.größe'],
  ['a.😀', '$.a.😀'],
  ["['x.y']", "$['x.y']"],
  ['["x.y"]', "$['x.y']"],
  ['["it\'s"]', "$['it\\'s']"],
  ['[\'say "hi"\']', '$[\'say "hi"\']'],
  ["['']", "$['']"],
  ["['a\\b']", "$['a\\\\b']"],
  ["['a\tb']", "$['a\\tb']"],
  ["user['name']", '$.user.name'],
  ['__proto__.x', '$.__proto__.x'],
  ['$.items.0', "$.items['0']"],
  ['$.a:b', "$['a:b']"],
  ['$.items[007]', '$.items[7]'],
  ["$['a\tb']", "$['a\\tb']"],
  // What is a path of RFC 9535 stays as it is.
  ['$.a.b', '$.a.b'],
  ['$.items[*].id', '$.items[*].id'],
  ["$['a b']", "$['a b']"],
  // The library takes a hyphen in a name.
  ['$.first-name', '$.first-name'],
  ['$..id', '$..id'],
  ['$.*', '$.*'],
  ['$.items[?@.price < 10].name', '$.items[?@.price < 10].name'],
  ['$.items[1:3]', '$.items[1:3]'],
];

test('the old spelling of a path becomes one of RFC 9535', () => {
  for (const [old, path] of table) assert.equal(rfc9535Path(old), path, old);
});

test('a translated path is its own translation, and the library reads the same names in it', () => {
  for (const [old, path] of table) assert.equal(rfc9535Path(path), path, old);
  const names = (path: string) => stepsOf(parseJsonQuery(path).segments);
  assert.deepEqual(names(rfc9535Path('a-b.0.*["\'\\"]["\n"].x')), ['a-b', '0', '*', "'\\", '\n', 'x']);
  assert.deepEqual(names(rfc9535Path('a[-3][12]')), ['a', -3, 12]);
});

test('what is neither is refused; after `$` by what RFC 9535 says', () => {
  for (const path of ['', '$', '.a', 'a..b', 'a[?@.b]', 'a[1:2]', 'a[*', '$a', '$.', '$..', '$[']) {
    assert.throws(() => rfc9535Path(path), JsonPathError, path);
  }
  assert.throws(() => rfc9535Path('$.a[?@.b'), /is not a JSONPath/);
  assert.throws(() => rfc9535Path('a..b'), /is not a path: character 2 is not expected/);
});
