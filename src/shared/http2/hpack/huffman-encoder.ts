import type { BlockBuffer } from './block-buffer.ts';
import { huffmanCode } from './huffman-code.ts';

/** Bytes of the Huffman code of a range. */
export function huffmanLength(source: Uint8Array, start: number, end: number): number {
  const { lengths } = huffmanCode;
  let bits = 0;
  for (let at = start; at < end; at++) bits += lengths[source[at] as number] as number;
  return (bits + 7) >> 3;
}

/** Appends a string literal in the shorter of its two forms (RFC 7541 5.2). There must be room for the longer one. */
export function appendText(to: BlockBuffer, source: Uint8Array, start: number, end: number): void {
  const length = huffmanLength(source, start, end);
  if (length >= end - start) {
    to.plain(source, start, end);
    return;
  }
  to.integer(0x80, 0x7f, length);
  appendHuffman(to, source, start, end);
}

/** Appends the code, padded. There must be room. */
export function appendHuffman(to: BlockBuffer, source: Uint8Array, start: number, end: number): void {
  const { codes, lengths } = huffmanCode;
  // The lowest `count` bits of `bits` are still to be written: fewer than eight between two bytes.
  let bits = 0;
  let count = 0;
  for (let at = start; at < end; at++) {
    const byte = source[at] as number;
    const code = codes[byte] as number;
    let left = lengths[byte] as number;
    // At most 16 bits at once, so that nothing is shifted out.
    while (left > 0) {
      const taken = Math.min(left, 16);
      left -= taken;
      bits = (bits << taken) | ((code >>> left) & ((1 << taken) - 1));
      count += taken;
      while (count >= 8) {
        count -= 8;
        to.byte(bits >>> count);
      }
    }
  }
  if (count > 0) to.byte((bits << (8 - count)) | (0xff >> count));
}
