/*
 * Writes DER (X.690), as far as certificates and certificate requests need it.
 */

/** A value with its tag and length; `contents` follow one another. */
export function tlv(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tlv(0x30, ...parts);
export const setOf = (...parts: readonly Uint8Array[]): Buffer => tlv(0x31, ...parts);
export const octetString = (bytes: Uint8Array): Buffer => tlv(0x04, bytes);
export const utf8String = (text: string): Buffer => tlv(0x0c, Buffer.from(text));
export const derNull: Buffer = tlv(0x05);
export const derTrue: Buffer = tlv(0x01, Buffer.from([0xff]));

/** `[tag]`, constructed. */
export const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => tlv(0xa0 | tag, ...parts);

/** A whole number of bytes. */
export const bitString = (bytes: Uint8Array): Buffer => tlv(0x03, Buffer.from([0]), bytes);

/** A number that is not negative, its most significant byte first. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  let first = 0;
  while (first < bytes.length - 1 && bytes[first] === 0) first++;
  const significant = bytes.subarray(first);
  const sign = ((significant[0] ?? 0) & 0x80) !== 0 || significant.length === 0 ? [0] : [];
  return tlv(0x02, Buffer.from(sign), significant);
}

/** Seconds count; UTC. Years up to 2049 (RFC 5280, 4.1.2.5). */
export function utcTime(instant: Date): Buffer {
  const digits = instant.toISOString().replace(/[-:T]|\.\d+/g, '');
  return tlv(0x17, Buffer.from(digits.slice(2), 'latin1'));
}

/** `1.2.840.10045.4.3.2` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): readonly number[] {
  const bytes = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let left = length; left > 0; left >>>= 8) bytes.unshift(left & 0xff);
  return [0x80 | bytes.length, ...bytes];
}
