/** Parts of a header block as bytes, also invalid ones (RFC 7541). `http2-frames.ts` has `encodeFields`, which needs no table. */

/** An integer with a prefix of this many bits; `first` has the bits before it (5.1). */
export function hpackInteger(first: number, bits: number, value: number): Buffer {
  const max = 2 ** bits - 1;
  if (value < max) return Buffer.from([first | value]);
  const bytes = [first | max];
  let left = value - max;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}

/** A string without Huffman code (5.2). */
export function hpackString(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([hpackInteger(0, 7, bytes.byteLength), bytes]);
}

/** The bytes of a Huffman code, with its length in front. */
export function huffmanBytes(...bytes: readonly number[]): Buffer {
  return Buffer.concat([hpackInteger(0x80, 7, bytes.length), Buffer.from(bytes)]);
}

/** The field of an index of the tables: 1 to 61 static, 62 is the newest of the dynamic table (6.1). */
export function indexedField(index: number): Buffer {
  return hpackInteger(0x80, 7, index);
}

/** A field that enters the dynamic table (6.2.1). */
export function addedField(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), hpackString(name), hpackString(value)]);
}

/** A change of the size of the dynamic table, in bytes (6.3). */
export function tableSize(bytes: number): Buffer {
  return hpackInteger(0x20, 5, bytes);
}
