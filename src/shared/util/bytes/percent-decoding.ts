const percent = 0x25;
const plus = 0x2b;
const space = 0x20;

/** The value of a hexadecimal digit by its character code; 255: not a digit. */
const digits = new Uint8Array(256).fill(255);
for (const [at, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = at;
  digits[digit.toUpperCase().charCodeAt(0)] = at;
}

/**
 * The bytes of text with escapes (`%41`), whose chars are bytes. Invalid escapes are left as they are. `plusIsSpace`: as in
 * forms and queries.
 */
export function percentDecoded(text: string, plusIsSpace: boolean): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const { length } = bytes;
  let end = 0;
  for (let at = 0; at < length; at++) {
    let byte = bytes[at] as number;
    if (byte === percent && at + 2 < length) {
      const high = digits[bytes[at + 1] as number] as number;
      const low = digits[bytes[at + 2] as number] as number;
      if (high < 16 && low < 16) {
        byte = high * 16 + low;
        at += 2;
      }
    } else if (byte === plus && plusIsSpace) byte = space;
    bytes[end++] = byte;
  }
  return bytes.subarray(0, end);
}

const encoded = /[%+\x80-\xff]/;

/** A name or value of a form or query as text; bytes that are not UTF-8 become U+FFFD. Never fails. */
export function decodeFormText(text: string): string {
  return encoded.test(text) ? percentDecoded(text, true).toString('utf8') : text;
}
