import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodySyntaxError } from './body-syntax-error.ts';
import { isJsonNumber, isJsonObject, type JsonObject, jsonText, parseJson } from './json.ts';

test('what was read is written as it was', () => {
  for (const text of [
    '{"id":12345678901234567890,"small":1e-7,"huge":1e400,"exact":0.1234567890123456789}',
    '{"__proto__":{"polluted":true},"constructor":1}',
    '[1,-0.5,true,null,"\\u2028",[],{}]',
    '"text"',
  ]) {
    assert.equal(jsonText(parseJson(Buffer.from(text))).replace('\u2028', '\\u2028'), text);
  }
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test('numbers that are kept as text are numbers, and no objects', () => {
  const { big, small, list } = parseJson('{"big":12345678901234567890,"small":1,"list":[]}') as JsonObject;
  assert.deepEqual([isJsonNumber(big), isJsonNumber(small), isJsonNumber(list)], [true, true, false]);
  assert.deepEqual([isJsonObject(big), isJsonObject(list), isJsonObject({})], [false, false, true]);
});

test('a byte order mark is passed over, and other encodings are refused', () => {
  assert.equal(parseJson(Buffer.from('\ufeff1')), 1);
  assert.throws(() => parseJson(Buffer.from('{"a":1}', 'utf16le')), BodySyntaxError);
  assert.throws(() => parseJson(Buffer.from([0x22, 0xff, 0x22])), /not UTF-8/);
});

test('reports a fault with its position, and never quotes the text', () => {
  const faults: readonly (readonly [text: string, where: string])[] = [
    ['', 'line 1, column 1'],
    ['{"a":1,}', 'line 1, column 8'],
    ['{"a" 1}', 'line 1, column 6'],
    ['[1,2', 'line 1, column 5'],
    ['[1] 2', 'line 1, column 5'],
    ['{"a":{"b":[1,{"c":nul}]}}', 'line 1, column 19'],
    ['{\n  "a": 01\n}', 'line 2, column 9'],
    ['"s3cret\\x"', 'line 1, column 8'],
    ['{"a":"s3cret\n"}', 'line 1, column 13'],
    ['\n\n  tru', 'line 3, column 3'],
    ['[}', 'line 1, column 2'],
    ['{}}', 'line 1, column 3'],
    ['[1 2]', 'line 1, column 4'],
  ];
  for (const [text, where] of faults) {
    assert.throws(
      () => parseJson(text),
      (error: BodySyntaxError) => {
        assert.ok(error instanceof BodySyntaxError);
        assert.equal(error.where, where, JSON.stringify(text));
        assert.doesNotMatch(error.message, /s3cret/);
        return true;
      },
    );
  }
});

test('nesting is bounded, brackets in strings do not count', () => {
  assert.throws(() => parseJson('['.repeat(100_000)), /nested deeper than 512 levels \(line 1, column 513\)/);
  assert.throws(() => parseJson(`${'{"a":'.repeat(3)}1${'}'.repeat(3)}`, { maxDepth: 2 }), /deeper than 2/);
  assert.equal(parseJson(`"${'['.repeat(100_000)}"`), '['.repeat(100_000));
  assert.deepEqual(parseJson(`["\\\\","\\"${'{'.repeat(600)}"]`), ['\\', `"${'{'.repeat(600)}`]);
  const deep = parseJson(`${'['.repeat(512)}${']'.repeat(512)}`);
  assert.equal(jsonText(deep).length, 1024);
});
