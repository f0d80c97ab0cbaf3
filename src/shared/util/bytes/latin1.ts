interface BufferMethods {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  latin1Write(this: Uint8Array, text: string, offset: number): number;
  utf8Write(this: Uint8Array, text: string, offset: number): number;
}

const { latin1Slice, latin1Write, utf8Write } = Buffer.prototype as unknown as BufferMethods;

/** A range of bytes as a string of one character for each byte. Costs half of `toString('latin1')`, which looks up the encoding first. */
export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end);
}

/** Writes such a string from `offset` on, as far as there is room; returns the number of bytes written. */
export function writeLatin1(bytes: Uint8Array, text: string, offset: number): number {
  return latin1Write.call(bytes, text, offset);
}

/** The same for a text in UTF-8; an unpaired surrogate becomes U+FFFD. */
export function writeUtf8(bytes: Uint8Array, text: string, offset: number): number {
  return utf8Write.call(bytes, text, offset);
}

/** The bytes of a text in UTF-8, as such a string. */
export function utf8AsLatin1(text: string): string {
  const bytes = Buffer.from(text);
  return latin1(bytes, 0, bytes.byteLength);
}

const beyondAscii = /[\x80-\xff]/;

/** A text of one char for each byte, as headers and paths are, read as UTF-8; as it stands when it is not that. */
export function utf8FromLatin1(bytes: string): string {
  if (!beyondAscii.test(bytes)) return bytes;
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? bytes : text;
}
