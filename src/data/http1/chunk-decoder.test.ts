import assert from 'node:assert/strict';
import { test } from 'node:test';
import { broken, ChunkDecoder, needMore } from './chunk-decoder.ts';

interface Outcome {
  readonly body: string;
  readonly end: number;
  readonly trailers: string;
}

function decode(text: string, step = text.length): Outcome {
  const decoder = new ChunkDecoder();
  const bytes = Buffer.from(text, 'latin1');
  let body = '';
  const sink = {
    bodyData: (data: Uint8Array, from: number, to: number) =>
      (body += Buffer.from(data.subarray(from, to)).toString('latin1')),
  };
  for (let at = 0; at < bytes.length; at += step) {
    const end = decoder.feed(bytes, at, Math.min(bytes.length, at + step), sink);
    if (end !== needMore) return { body, end, trailers: decoder.trailers };
  }
  return { body, end: needMore, trailers: decoder.trailers };
}

test('decodes chunks, extensions and trailers, in one piece and byte by byte', () => {
  const text = '5\r\nhello\r\n6;a=b;c="d e"\r\n world\r\n0\r\nX-Sum: 1\r\n\r\nNEXT';
  for (const step of [text.length, 1, 2, 3, 7]) {
    const outcome = decode(text, step);
    assert.equal(outcome.body, 'hello world');
    assert.equal(outcome.trailers, 'X-Sum: 1\r\n');
    assert.ok(outcome.end > 0);
  }
  assert.equal(text.slice(decode(text).end), 'NEXT');
});

test('drops trailers that frame, route or authenticate', () => {
  const lines = [
    'Content-Length: 3',
    'Host: evil',
    'Transfer-Encoding: chunked',
    'Authorization: x',
    'X_Consumer_Id: 1',
    'X-Fine: yes',
  ];
  assert.equal(decode(`0\r\n${lines.join('\r\n')}\r\n\r\n`).trailers, 'X-Fine: yes\r\n');
});

for (const [name, text] of [
  ['a 0x prefix', '0x5\r\nhello\r\n'],
  ['a sign', '+5\r\nhello\r\n'],
  ['a leading space', ' 5\r\nhello\r\n'],
  ['a trailing space', '5 \r\nhello\r\n'],
  ['an empty size', '\r\nhello\r\n'],
  ['17 digits', '00000000000000005\r\nhello\r\n'],
  ['a size beyond what counts exactly', 'fffffffffffffff\r\n'],
  ['a size line ended by LF', '5\nhello\r\n'],
  ['data without its CRLF', '5\r\nhello0\r\n\r\n'],
  ['data ended by LF', '5\r\nhello\n0\r\n\r\n'],
  ['an extension over the cap', `5;${'a'.repeat(1100)}\r\nhello\r\n`],
  ['an empty extension', '5;\r\nhello\r\n'],
  ['a blank and no extension', '5 \r\nhello\r\n'],
  ['an extension with an open quote', '5;a="\r\nhello\r\n'],
  ['a trailer without a colon', '0\r\nabc\r\n\r\n'],
  ['a trailer ended by LF', '0\r\nA: b\n\r\n'],
  ['trailers over the cap', `0\r\nA: ${'b'.repeat(9000)}\r\n\r\n`],
] as const) {
  test(`refuses ${name}`, () => {
    assert.equal(decode(text).end, broken);
    assert.equal(decode(text, 1).end, broken);
  });
}

test('a body that ends inside a chunk is not complete', () => {
  assert.deepEqual(decode('5\r\nhel'), { body: 'hel', end: needMore, trailers: '' });
});
