import { huffmanCode, maxCodeLength } from './huffman-code.ts';

/** Codes up to this length, which are nearly all that occur, are found by one look at a table. */
const tableBits = 10;
const tableMask = (1 << tableBits) - 1;

/** For each sequence of bits that begins with a short code: its length above the 8 bits of its symbol; else 0. */
const table = buildTable();

function buildTable(): Uint16Array {
  const entries = new Uint16Array(1 << tableBits);
  for (let symbol = 0; symbol < 256; symbol++) {
    const length = huffmanCode.lengths[symbol] as number;
    if (length > tableBits) continue;
    const first = (huffmanCode.codes[symbol] as number) << (tableBits - length);
    entries.fill((length << 8) | symbol, first, first + (1 << (tableBits - length)));
  }
  return entries;
}

/** Bytes that the decoded form of `length` bytes has at most: no code is shorter than five bits. */
export function maxDecodedLength(length: number): number {
  return Math.floor((length * 8) / 5);
}

/**
 * Decodes a range into `out` from `offset` on, where there must be room for `maxDecodedLength`. Returns the offset behind
 * the last byte; -1 when a code is the end of string, or the padding is not less than eight bits of ones (RFC 7541 5.2).
 */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number, out: Uint8Array, offset: number): number {
  let at = start;
  let to = offset;
  // The lowest `count` bits of `bits` are still to be decoded; those above them have been.
  let bits = 0;
  let count = 0;
  for (;;) {
    if (count < tableBits) {
      if (end - at >= 2) {
        bits = (bits << 16) | ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
        at += 2;
        count += 16;
      } else if (at < end) {
        bits = (bits << 8) | (bytes[at++] as number);
        count += 8;
        if (count < tableBits) continue;
      } else return decodeTail(bits, count, out, to);
    }
    const entry = table[(bits >> (count - tableBits)) & tableMask] as number;
    if (entry !== 0) {
      out[to++] = entry & 0xff;
      count -= entry >> 8;
      continue;
    }
    const found = longCode(bytes, at * 8 - count, end * 8);
    if (found < 0) return -1;
    out[to++] = found & 0xff;
    // The code ends at this bit; the rest of its byte is read again.
    const next = at * 8 - count + (found >> 8);
    at = (next + 7) >> 3;
    count = at * 8 - next;
    bits = count === 0 ? 0 : (bytes[at - 1] as number);
  }
}

/** The last bits: short codes, then padding. */
function decodeTail(bits: number, left: number, out: Uint8Array, offset: number): number {
  let count = left;
  let to = offset;
  while (count > 0) {
    if (isPadding(bits, count)) return to;
    const entry = table[(bits << (tableBits - count)) & tableMask] as number;
    const length = entry >> 8;
    if (length === 0 || length > count) return -1;
    out[to++] = entry & 0xff;
    count -= length;
  }
  return to;
}

/** No code consists of fewer than eight ones. */
function isPadding(bits: number, count: number): boolean {
  const ones = (1 << count) - 1;
  return count < 8 && (bits & ones) === ones;
}

/** The code above `tableBits` that begins at a bit: its length above the 8 bits of its symbol; -1 when there is none. */
function longCode(bytes: Uint8Array, startBit: number, endBit: number): number {
  const { firstCode, firstSymbol, symbols } = huffmanCode;
  const window = bitsFrom(bytes, startBit);
  const most = Math.min(maxCodeLength, endBit - startBit);
  for (let length = tableBits + 1; length <= most; length++) {
    const code = window >> (maxCodeLength - length);
    const index = (firstSymbol[length] as number) + code - (firstCode[length] as number);
    if (index >= (firstSymbol[length + 1] as number)) continue;
    const symbol = symbols[index] as number;
    return symbol > 0xff ? -1 : (length << 8) | symbol;
  }
  return -1;
}

/** The `maxCodeLength` bits from a bit on; zeros after the last byte. */
function bitsFrom(bytes: Uint8Array, startBit: number): number {
  const first = startBit >> 3;
  const shift = startBit & 7;
  let word = 0;
  for (let at = first; at < first + 4; at++) word = (word << 8) | (at < bytes.length ? (bytes[at] as number) : 0);
  const last = first + 4 < bytes.length ? (bytes[first + 4] as number) : 0;
  return ((word << shift) | (last >> (8 - shift))) >>> (32 - maxCodeLength);
}
