import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deckScalar } from './deck-scalar.ts';

const cases: readonly (readonly [string, string])[] = [
  ['198.51.100.11:80', '198.51.100.11:80'],
  ['10.0.0.1', '10.0.0.1'],
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['~/items/(?<id>\\d+)$', '~/items/(?<id>\\d+)$'],
  ['größe und maß', 'größe und maß'],
  ['日本', '日本'],
  ['x-a:$(headers["a"])', 'x-a:$(headers["a"])'],
  ["it's", "it's"],
  ['a, b [c] {d}', 'a, b [c] {d}'],
  ['Basic realm="x" # y', `'Basic realm="x" # y'`],
  ['3.0', '"3.0"'],
  ['007', '"007"'],
  ['1_000', '"1_000"'],
  ['0x1f', '"0x1f"'],
  ['1e3', '"1e3"'],
  ['1:30', '"1:30"'],
  ['2024-01-01', '"2024-01-01"'],
  ['yes', '"yes"'],
  ['null', '"null"'],
  ['', '""'],
  ['*.example.com', "'*.example.com'"],
  ['[2001:db8::1]:80', "'[2001:db8::1]:80'"],
  ['{vault://env/a}', "'{vault://env/a}'"],
  ['- dash: colon # hash', "'- dash: colon # hash'"],
  ["'quoted': it's", "'''quoted'': it''s'"],
  ['@user', "'@user'"],
  ['ends with:', "'ends with:'"],
  [' blank', "' blank'"],
  ['a\tb', '"a\\tb"'],
  ['bell\x07 "x"', '"bell\\a \\"x\\""'],
  ['🚪', '"\\U0001F6AA"'],
  ['one\ntwo\n', '|\n  one\n  two\n'.trimEnd()],
  ['one\n\ntwo', '|-\n  one\n\n  two'],
];

for (const [text, yaml] of cases) {
  test(`${JSON.stringify(text)} is written as decK writes it`, () => assert.equal(deckScalar(text, '  '), yaml));
}

test('a key is always on one line', () => assert.equal(deckScalar('a\nb', ''), '"a\\nb"'));
