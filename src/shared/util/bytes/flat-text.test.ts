import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flatText, NumberedLines } from './flat-text.ts';

test('a text in one piece is the same text, whatever its bytes', () => {
  for (const text of ['', 'Via: 1.1 kong\r\n', '\0\x7f\x80\xff'.repeat(100), 'grün €', '\ud800'])
    assert.equal(flatText(text), text);
});

test('lines have their number, within the limit and beyond it, each time', () => {
  const lines = new NumberedLines('X-Count', 3);
  for (let turn = 0; turn < 2; turn++) {
    for (const number of [0, 2, 3, 1, 4_294_967_296]) assert.equal(lines.line(number), `X-Count: ${number}\r\n`);
  }
});
