import type { BlockBuffer } from './block-buffer.ts';
import { huffmanCode } from './huffman-code.ts';

/** Bytes of the Huffman code of a text of one char for each byte. */
export function huffmanLength(text: string): number {
  const { lengths } = huffmanCode;
  let bits = 0;
  for (let at = 0; at < text.length; at++) bits += lengths[text.charCodeAt(at)] as number;
  return (bits + 7) >> 3;
}

/** Appends a string literal in the shorter of its two forms (RFC 7541 5.2). There must be room for the longer one. */
export function appendText(to: BlockBuffer, text: string): void {
  const length = huffmanLength(text);
  if (length >= text.length) {
    to.plain(text, 0, text.length);
    return;
  }
  to.integer(0x80, 0x7f, length);
  appendHuffman(to, text);
}

/** Appends the code, padded. There must be room. */
export function appendHuffman(to: BlockBuffer, text: string): void {
  const { codes, lengths } = huffmanCode;
  // The lowest `count` bits of `bits` are still to be written: fewer than eight between two chars.
  let bits = 0;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    const code = codes[char] as number;
    let left = lengths[char] as number;
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
