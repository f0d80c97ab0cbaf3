import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginningOf, visibleText } from './visible-text.ts';

test('shows what would mislead: directions, controls, invisible and blank characters, lone surrogates', () => {
  const hostile: readonly (readonly [string, string])[] = [
    ['/admin\u202egnp.exe', '/admin\\u{202e}gnp.exe'],
    ['a\u2066b\u2069', 'a\\u{2066}b\\u{2069}'],
    ['x\u200b\u200d\ufeff\u00ady', 'x\\u{200b}\\u{200d}\\u{feff}\\u{ad}y'],
    ['\u001b[2J\u0007\r\n\t', '\\u{1b}[2J\\u{7}\\u{d}\\u{a}\\u{9}'],
    ['a\u00a0b\u3000c\u2028', 'a\\u{a0}b\\u{3000}c\\u{2028}'],
    ['\u3164\u2800\uffa0', '\\u{3164}\\u{2800}\\u{ffa0}'],
    ['\ud800', '\\u{d800}'],
    ['\u{e0041}', '\\u{e0041}'],
    [`e${'\u0301'.repeat(3)}`, 'e\\u{301}\\u{301}\\u{301}'],
  ];
  for (const [text, shown] of hostile) assert.equal(visibleText(text), shown);
});

test('leaves readable text of any script alone', () => {
  for (const text of ['/users/42?q=a b', 'Zürich', 'שלום', 'Đặng', '日本語', '😀', '<b>&amp;"\'']) {
    assert.equal(visibleText(text), text);
  }
});

test('cuts between characters', () => {
  assert.equal(beginningOf('ab😀', 3), 'ab');
  assert.equal(beginningOf('ab😀', 4), 'ab😀');
});
