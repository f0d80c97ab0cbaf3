import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOf } from '../../../../test/support/random.ts';
import { parseDocument } from '../document/parse-document.ts';
import { yamlText } from './write-text.ts';

const words =
  'a A yes No ON off y n ~ null Null true false .inf -.INF .nan 0 07 0x1f 0o7 0b1 1e3 1_000 1:30 1.5 +1 -1 . .. - -- --- ... ? : , [ ] { } # & * ! | > \' " % @ ` = << a:b a: :a a#b a-b ~/x ^/x$ (x) x\\d+$ http://x:80/?a=1&b=2 10.0.0.0/8 10.0.0.1 ::1 2024-01-01 x@y.z *.x $a \\n'.split(
    ' ',
  );
const pieces = [
  ...words,
  '',
  ' ',
  '\t',
  '\n',
  '\r',
  '\0',
  '\x7f',
  '\x85',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00',
  '😀',
  'ü',
  '  ',
  '\n\n',
  'x\n',
  '\nx',
  ' x\n  y\n',
  'ff',
  'e1',
  '-----BEGIN X-----\nabc==\n-----END X-----\n',
];

function check(value: unknown): void {
  for (const style of ['single', 'deck'] as const) {
    const text = yamlText({ value }, style);
    assert.deepEqual(parseDocument(text).content, { value }, text);
  }
}

test('every text is read as it was', () => {
  for (const one of pieces) {
    check(one);
    check([one, { [one === '' ? 'k' : one]: one }, [[one], []], {}]);
    for (const other of pieces) check([one + other, `${one} ${other}`, `${one}\n${other}\n`]);
  }
});

test('random texts are read as they were', () => {
  const alphabet = [...' \t\n:#-?,[]{}&*!|>\'"%@`\\/=~<.0123456789aeEnoxyü\ud800\x01'];
  const random = randomOf(42);
  for (let round = 0; round < 5000; round++) {
    check(Array.from({ length: 1 + random(8) }, () => alphabet[random(alphabet.length)]).join(''));
  }
});

test('a plain text stays readable', () => {
  const value = {
    host: 'a.test:80',
    paths: ['/a', '~/b$'],
    key: 'line\nline\n',
    version: '3.0',
    none: null,
    list: [],
    yes: 'yes',
  };
  assert.equal(
    yamlText(value, 'deck'),
    'host: a.test:80\npaths:\n- /a\n- ~/b$\nkey: |\n  line\n  line\nversion: "3.0"\nnone: null\nlist: []\n"yes": "yes"\n',
  );
});
