import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonPosition } from './json-position.ts';

const cases: readonly (readonly [text: string, place: string])[] = [
  ['{"name": "x", "url": }', 'line 1, column 22: unexpected "}"'],
  ['{"a":1,}', 'line 1, column 8: unexpected "}"'],
  ['{"a":tru}', 'line 1, column 9: unexpected "}"'],
  ["{'a': 1}", 'line 1, column 2: unexpected "\'"'],
  ['{"a":1}}', 'line 1, column 8: unexpected "}"'],
  ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: unexpected "\\""'],
  ['nonsense', 'line 1, column 2: unexpected "o"'],
  ['{"a": "x', 'line 1, column 9: unexpected end of the text'],
  ['  ', 'the body is empty'],
  [`{"long": "${'x'.repeat(500)}",\n "url": }`, 'line 2, column 9: unexpected "}"'],
];

for (const [text, place] of cases) {
  test(`finds where ${JSON.stringify(text.slice(0, 30))} breaks`, () => {
    assert.throws(
      () => JSON.parse(text),
      (error) => {
        assert.equal(jsonPosition(text, error), place);
        return true;
      },
    );
  });
}
