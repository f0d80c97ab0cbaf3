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

  append(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    if (end - start > longRange) {
      bytes.set(source.subarray(start, end), this.length);
      this.length += end - start;
      return;
    }
    let to = this.length;
    for (let at = start; at < end; at++) bytes[to++] = source[at] as number;
    this.length = to;
  }

  /** A string literal that is not Huffman-coded. */
  plain(source: Uint8Array, start: number, end: number): void {
    this.integer(0, 0x7f, end - start);
    this.append(source, start, end);
  }
}

/** From here on a call of native code costs less than a loop. */
const longRange = 200;
