/** One element of DER (X.690): what is between `start` and `end` is its content; `head` is where its tag is. */
export interface Der {
  readonly bytes: Buffer;
  readonly tag: number;
  readonly head: number;
  readonly start: number;
  readonly end: number;
}

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The element at this offset. Throws when the encoding is not the one that DER prescribes. */
export function derAt(bytes: Buffer, at: number, limit: number): Der {
  if (at + 2 > limit) throw new Error('the encoding ends too early');
  const tag = bytes[at]!;
  if ((tag & 0x1f) === 0x1f) throw new Error('a tag of more than one byte');
  const first = bytes[at + 1]!;
  let start = at + 2;
  let length = first;
  if (first >= 0x80) {
    const size = first & 0x7f;
    if (size === 0 || size > 4 || start + size > limit) throw new Error('a length that DER does not allow');
    length = bytes.readUIntBE(start, size);
    if (length < 0x80 || length < 2 ** (8 * (size - 1))) throw new Error('a length that is longer than needed');
    start += size;
  }
  const end = start + length;
  if (end > limit) throw new Error('the encoding ends too early');
  return { bytes, tag, head: at, start, end };
}

/** The single element that the bytes contain. */
export function derOf(bytes: Buffer, tag: number = tags.sequence): Der {
  const der = expectTag(derAt(bytes, 0, bytes.byteLength), tag);
  if (der.end !== bytes.byteLength) throw new Error('there is something behind the encoding');
  return der;
}

/** Each element becomes an object, and a forged list of 16 MB can contain 8 million empty ones. */
const maxChildren = 10_000;
const maxOidBytes = 64;

/** The elements in this one. Throws when there are more than 10,000. */
export function childrenOf(der: Der): readonly Der[] {
  const children: Der[] = [];
  for (let at = der.start; at < der.end; ) {
    if (children.length === maxChildren) throw new Error('too many elements');
    const child = derAt(der.bytes, at, der.end);
    children.push(child);
    at = child.end;
  }
  return children;
}

export function expectTag(der: Der | undefined, tag: number): Der {
  if (der === undefined || der.tag !== tag) throw new Error('an element is missing or of another type');
  return der;
}

/** The element with its tag and length, as it was signed or is compared. */
export function rawOf({ bytes, head, end }: Der): Buffer {
  return bytes.subarray(head, end);
}

export function contentOf({ bytes, start, end }: Der): Buffer {
  return bytes.subarray(start, end);
}

/** An object identifier in dotted form. */
export function oidOf(der: Der | undefined): string {
  const { bytes, start, end } = expectTag(der, tags.oid);
  if (end - start > maxOidBytes) throw new Error('an object identifier that is too long');
  const parts: number[] = [];
  let value = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER / 128) throw new Error('an object identifier that is too large');
    if (byte >= 0x80) continue;
    if (parts.length === 0) {
      const top = Math.min(2, Math.floor(value / 40));
      parts.push(top, value - top * 40);
    } else parts.push(value);
    value = 0;
  }
  if (end === start || bytes[end - 1]! >= 0x80) throw new Error('an object identifier that is cut off');
  return parts.join('.');
}

/** A number as hexadecimal digits, as serial numbers are compared. */
export function hexOf(der: Der | undefined): string {
  const { bytes, start, end } = expectTag(der, tags.integer);
  if (start === end) throw new Error('a number without digits');
  return bytes.toString('hex', start, end);
}

/** A BOOLEAN; DER allows one encoding of true. */
export function booleanOf(der: Der | undefined): boolean {
  const { bytes, start, end } = expectTag(der, tags.boolean);
  if (end - start !== 1) throw new Error('a truth value that is none');
  return bytes[start] !== 0;
}

/** Bits that are set, by their number in a BIT STRING; the first is 0. */
export function bitsOf(der: Der): ReadonlySet<number> {
  const content = contentOf(expectTag(der, tags.bitString));
  const set = new Set<number>();
  content.subarray(1).forEach((byte, at) => {
    for (let bit = 0; bit < 8; bit++) if ((byte & (0x80 >> bit)) !== 0) set.add(at * 8 + bit);
  });
  return set;
}

/** A UTCTime or GeneralizedTime in the form of RFC 5280 (4.1.2.5), in milliseconds since the epoch. */
export function timeOf(der: Der | undefined): number {
  const text = der === undefined ? '' : contentOf(der).toString('latin1');
  const short = der?.tag === tags.utcTime && /^\d{12}Z$/.test(text);
  if (!short && !(der?.tag === tags.generalizedTime && /^\d{14}Z$/.test(text))) throw new Error('a malformed time');
  const full = short ? `${Number(text.slice(0, 2)) >= 50 ? '19' : '20'}${text}` : text;
  const iso = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const time = Date.parse(iso);
  if (Number.isNaN(time)) throw new Error('a time that does not exist');
  return time;
}
