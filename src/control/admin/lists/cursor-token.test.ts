import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cursor, decodeCursor, encodeCursor } from './cursor-token.ts';

const id = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
const cursor: Cursor = { position: { createdAt: 1_700_000_000_123, id }, direction: 'asc' };
const encode = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString('base64url');

test('a decoded token has the position and the direction', () => {
  assert.deepEqual(decodeCursor(encodeCursor(cursor)), cursor);
  const back: Cursor = { ...cursor, direction: 'desc' };
  assert.deepEqual(decodeCursor(encodeCursor(back)), back);
  assert.match(encodeCursor(back), /^[A-Za-z0-9_-]+$/);
});

test('what is not base64 is refused', () => {
  for (const token of ['', 'x', 'a b', 'abc=', 'ab+/', '%00', `${encodeCursor(cursor)}=`, 'a'.repeat(9000)]) {
    assert.equal(decodeCursor(token), 'bad base64 encoding', token);
  }
});

test('another encoding of the same bytes is refused', () => {
  assert.equal(decodeCursor('YR'), 'bad base64 encoding');
});

test('base64 that holds no JSON is refused', () => {
  assert.equal(decodeCursor(Buffer.from('not json').toString('base64url')), 'bad json encoding');
  assert.equal(decodeCursor(Buffer.from([0xff, 0xfe]).toString('base64url')), 'bad json encoding');
});

test('JSON of the wrong shape is refused', () => {
  const contents = [
    null,
    {},
    [],
    [1],
    ['1', id],
    [1.5, id],
    [1e300, id],
    [1, ''],
    [1, 2],
    [1, 'a\u0000b'],
    [1, id, 'asc'],
    [1, id, 'desc', 1],
  ];
  for (const content of contents) {
    assert.equal(decodeCursor(encode(content)), 'unexpected content', JSON.stringify(content));
  }
});
