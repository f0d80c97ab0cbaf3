import assert from 'node:assert/strict';
import { test } from 'node:test';
import { xxhash32 } from './xxhash32.ts';

/** From the test vectors of other implementations; the last two from xxhsum. */
const known: readonly [text: string, hash: number][] = [
  ['', 0x02cc5d05],
  ['a', 0x550d7456],
  ['abc', 0x32d153ff],
  ['Nobody inspects the spammish repetition', 0xe2293b2f],
  ['10.0.0.1::80 160', 0x068a8f9e],
  ['0123456789abcdef0123456789abcdef\xff\xe9', 0xc124e1c4],
];

for (const [text, hash] of known) {
  test(`of ${JSON.stringify(text.slice(0, 20))} (${text.length} bytes)`, () => {
    assert.equal(xxhash32(text).toString(16), hash.toString(16));
  });
}
