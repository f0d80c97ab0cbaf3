const prime1 = 0x9e3779b1;
const prime2 = 0x85ebca77;
const prime3 = 0xc2b2ae3d;
const prime4 = 0x27d4eb2f;
const prime5 = 0x165667b1;

/** Texts up to this length need no allocation. */
const scratch = Buffer.alloc(512);

/** xxHash32 with seed 0 of a text of one character for each byte (latin1), as an unsigned number. */
export function xxhash32(text: string): number {
  const { length } = text;
  if (length > scratch.byteLength) return xxhash32Of(Buffer.from(text, 'latin1'), length);
  // Cheaper than reading each character of the string.
  scratch.write(text, 'latin1');
  return xxhash32Of(scratch, length);
}

/**
 * The same for the first bytes of an array.
 *
 * https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 */
export function xxhash32Of(bytes: Uint8Array, length: number): number {
  let at = 0;
  let hash = prime5;
  if (length >= 16) {
    let lane1 = (prime1 + prime2) | 0;
    let lane2 = prime2 | 0;
    let lane3 = 0;
    let lane4 = -prime1 | 0;
    for (const last = length - 16; at <= last; at += 16) {
      lane1 = round(lane1, word(bytes, at));
      lane2 = round(lane2, word(bytes, at + 4));
      lane3 = round(lane3, word(bytes, at + 8));
      lane4 = round(lane4, word(bytes, at + 12));
    }
    hash = (rotate(lane1, 1) + rotate(lane2, 7) + rotate(lane3, 12) + rotate(lane4, 18)) | 0;
  }
  hash = (hash + length) | 0;
  for (; at + 4 <= length; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(word(bytes, at), prime3)) | 0, 17), prime4);
  }
  for (; at < length; at++) {
    hash = Math.imul(rotate((hash + Math.imul(bytes[at]!, prime5)) | 0, 11), prime1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), prime2);
  hash = Math.imul(hash ^ (hash >>> 13), prime3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function round(lane: number, input: number): number {
  return Math.imul(rotate((lane + Math.imul(input, prime2)) | 0, 13), prime1);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

/** Four bytes, little endian. */
function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
