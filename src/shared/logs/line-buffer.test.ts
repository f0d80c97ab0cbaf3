import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineBuffer } from './line-buffer.ts';

test('lines are taken in order, and then there are none', () => {
  const lines = new LineBuffer(false);
  assert.equal(lines.take(true).length, 0);
  for (const line of ['a', '', 'ä€😀']) lines.add(line);
  assert.deepEqual([lines.lines, lines.length], [3, Buffer.byteLength('a\n\nä€😀\n')]);
  assert.equal(lines.take(false).toString(), 'a\n\nä€😀\n');
  assert.deepEqual([lines.lines, lines.length], [0, 0]);
  lines.add('b');
  assert.equal(lines.take(true).toString(), '\nb\n');
});

test('characters that are bytes stay those bytes', () => {
  const lines = new LineBuffer(true);
  lines.add('\xc3\xa9\xff\x00');
  assert.deepEqual([...lines.take(false)], [0xc3, 0xa9, 0xff, 0, 10]);
});

test('the buffer grows for lines of any length and number, and taken bytes are not changed', () => {
  for (const ofBytes of [false, true]) {
    const lines = new LineBuffer(ofBytes);
    const expected: string[] = [];
    const taken: Buffer[] = [];
    for (let index = 0; index < 3000; index++) {
      const line = `${index} ${'x'.repeat(index % 700)}${index % 1000 === 999 ? 'y'.repeat(200_000) : ''}`;
      lines.add(line);
      expected.push(line);
      if (index % 777 === 0) taken.push(lines.take(false));
    }
    taken.push(lines.take(false));
    assert.equal(Buffer.concat(taken).toString(), `${expected.join('\n')}\n`);
  }
});

test('memory is used again for the next lines once its batch is released, and not before', () => {
  const lines = new LineBuffer(false);
  const batch = (text: string): Buffer => {
    for (let count = 0; count < 300; count++) lines.add(text.repeat(100));
    return lines.take(false);
  };
  const expected = (text: string): string => `${text.repeat(100)}\n`.repeat(300);
  const first = batch('a');
  const second = batch('b');
  assert.equal(first.toString(), expected('a'));
  lines.release();
  const third = batch('c');
  assert.equal(third.buffer, second.buffer);
  assert.deepEqual([first.toString(), third.toString()], [expected('a'), expected('c')]);
  // Memory that is much larger than what is written is not kept.
  lines.release();
  lines.add('d');
  const small = lines.take(false);
  lines.release();
  lines.add('e');
  assert.notEqual(lines.take(false).buffer, small.buffer);
});
