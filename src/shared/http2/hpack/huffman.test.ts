import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BlockBuffer } from './block-buffer.ts';
import { decodeHuffman, maxDecodedLength } from './huffman-decoder.ts';
import { appendHuffman, huffmanLength } from './huffman-encoder.ts';

function roundTrip(text: string): string {
  const buffer = new BlockBuffer();
  const source = Buffer.from(text, 'latin1');
  appendHuffman(buffer, source, 0, source.length);
  assert.equal(buffer.length, huffmanLength(source, 0, source.length));
  const out = Buffer.alloc(maxDecodedLength(buffer.length));
  return out.toString('latin1', 0, decodeHuffman(buffer.bytes, 0, buffer.length, out, 0));
}

describe('Huffman codes', () => {
  it('decode to the text that they were made from: each pair of bytes, at each offset within a byte', () => {
    for (let first = 0; first < 256; first++)
      for (let second = 0; second < 256; second++) {
        const pair = String.fromCharCode(first, second);
        for (const text of [pair, `0${pair}`, `${pair}0`, `&${pair}?`]) assert.equal(roundTrip(text), text);
      }
  });

  it('reject whatever is not the one encoding of a text', () => {
    const out = Buffer.alloc(64);
    let accepted = 0;
    for (let word = 0; word < 1 << 16; word++) {
      const bytes = Buffer.from([word >> 8, word & 0xff]);
      const end = decodeHuffman(bytes, 0, 2, out, 0);
      if (end < 0) continue;
      accepted++;
      const buffer = new BlockBuffer();
      appendHuffman(buffer, out, 0, end);
      assert.deepEqual([...buffer.bytes.subarray(0, buffer.length)], [...bytes]);
    }
    assert.ok(accepted > 1000 && accepted < 1 << 16, `${accepted}`);
  });
});
