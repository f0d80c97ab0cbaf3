import { writeLatin1 } from '../../../shared/util/bytes/latin1.ts';

/** The header block that is being encoded, in a buffer that grows. One serves many blocks, one after the other. */
export class BlockBuffer {
  bytes: Buffer;
  length = 0;

  /** `size`: bytes of the first buffer. */
  constructor(size = 4096) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  /** Makes room for `more` bytes; those that follow need no check. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  byte(value: number): void {
    this.bytes[this.length++] = value;
  }

  /** An integer (RFC 7541 5.1) below 2^28. `flags`: the bits above its own in the first byte; `mask`: its own. */
  integer(flags: number, mask: number, value: number): void {
    const { bytes } = this;
    if (value < mask) {
      bytes[this.length++] = flags | value;
      return;
    }
    bytes[this.length++] = flags | mask;
    let left = value - mask;
    for (; left >= 0x80; left >>>= 7) bytes[this.length++] = (left & 0x7f) | 0x80;
    bytes[this.length++] = left;
  }

  append(source: Uint8Array): void {
    const { bytes } = this;
    let to = this.length;
    for (let at = 0; at < source.length; at++) bytes[to++] = source[at] as number;
    this.length = to;
  }

  /** A part of a text of one char for each byte, as a string literal that is not Huffman-coded. */
  plain(text: string, start: number, end: number): void {
    this.integer(0, 0x7f, end - start);
    if (end - start > longText) {
      this.length += writeLatin1(this.bytes, text.slice(start, end), this.length);
      return;
    }
    const { bytes } = this;
    let to = this.length;
    for (let at = start; at < end; at++) bytes[to++] = text.charCodeAt(at);
    this.length = to;
  }
}

/** From here on a call of native code costs less than a loop. */
const longText = 48;
