import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFormText, percentDecoded } from './percent-decoding.ts';

for (const [text, decoded] of [
  ['', ''],
  ['plain', 'plain'],
  ['a+b%2Bc', 'a b+c'],
  ['%C3%A9%c3%a9', 'éé'],
  ['\xc3\xa9', 'é'],
  ['%', '%'],
  ['%4', '%4'],
  ['%41', 'A'],
  ['%zz%4', '%zz%4'],
  ['%%41', '%A'],
  ['%2541', '%41'],
  ['%4%41', '%4A'],
  ['%\xb9\xb9', '%\ufffd\ufffd'],
  ['%ff', '\ufffd'],
  ['%00', '\0'],
] as const) {
  test(`${JSON.stringify(text)} is ${JSON.stringify(decoded)}`, () => assert.equal(decodeFormText(text), decoded));
}

test('agrees with URLSearchParams on random text', () => {
  let seed = 20261122;
  const next = (limit: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return seed % limit;
  };
  const pieces = ['%', '%4', '%41', '%c3%a9', '+', 'x', '%e2%82', '%zz', '%2B', '%F0%9F%98%80'];
  for (let round = 0; round < 5000; round++) {
    const text = Array.from({ length: next(8) }, () => pieces[next(pieces.length)]).join('');
    assert.equal(decodeFormText(text), new URLSearchParams(`a=${text}`).get('a'), text);
  }
});

test('a plus is itself outside forms', () => assert.equal(percentDecoded('a+%2b', false).toString(), 'a++'));
