import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedField, namedValue } from './named-value.ts';

test('the name of a field ends at the first colon outside of the brackets of a path', () => {
  const cases: readonly (readonly [text: string, name: string, value: string])[] = [
    ['a:b:c', 'a', 'b:c'],
    ['a::b', 'a', 'b'],
    ['a.b', 'a.b', ''],
    ['$.a:b', '$.a', 'b'],
    ['$.a[0:2].b:c:d', '$.a[0:2].b', 'c:d'],
    ["$.a[?@.b == 'x]:y'].c::d", "$.a[?@.b == 'x]:y'].c", 'd'],
    ['$["a\\":b"]:c', '$["a\\":b"]', 'c'],
    ['$.a[?@[0:1] == 2]', '$.a[?@[0:1] == 2]', ''],
    ['$id[0:1]:c', '$id[0', '1]:c'],
  ];
  for (const [text, name, value] of cases) assert.deepEqual(namedField(text), { name, value }, text);
});

test('what is no path is read as the name of an argument is', () => {
  for (const text of ['', ':a', 'a', "['a:b']:c", '$[a:b', "$.a['b:c", '[0:1]:c']) {
    assert.deepEqual(namedField(text), namedValue(text), text);
  }
});
