import { isUtf8 } from 'node:buffer';

/** A member of a JSON object, by offsets into its bytes. */
export interface JsonMember {
  /** The quoted name. */
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface JsonLimits {
  /** Levels of objects and arrays. */
  readonly depth: number;
  /** Members of the outermost object. */
  readonly members: number;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const bracket = 0x5b;
const backslash = 0x5c;
const bracketEnd = 0x5d;
const brace = 0x7b;
const braceEnd = 0x7d;
const minus = 0x2d;
const zero = 0x30;

const maxLevels = 1024;
/** Stack of open containers: 1 for an object, 0 for an array. Shared, as calls never overlap. */
const open = new Uint8Array(maxLevels);

/**
 * The members of a JSON object (RFC 8259), duplicates included, in one pass that creates no values. Accepts what
 * `JSON.parse` accepts, within the limits. Empty for other JSON values; null for invalid JSON and beyond the limits.
 */
export function jsonMembers(bytes: Uint8Array, limits: JsonLimits): readonly JsonMember[] | null {
  if (!isUtf8(bytes)) return null;
  const most = Math.min(limits.depth, maxLevels);
  const members: JsonMember[] = [];
  let at = skipBlank(bytes, 0);
  const isObject = bytes[at] === brace;
  let depth = 0;
  let nameStart = 0;
  let nameEnd = 0;
  let valueStart = 0;
  for (;;) {
    // A value begins here.
    const first = bytes[at];
    let opened = false;
    if (first === brace || first === bracket) {
      if (depth === most) return null;
      const inObject = first === brace;
      open[depth++] = inObject ? 1 : 0;
      at = skipBlank(bytes, at + 1);
      if (bytes[at] === (inObject ? braceEnd : bracketEnd)) {
        depth--;
        at++;
      } else opened = true;
    } else {
      at = scalarEnd(bytes, at);
      if (at < 0) return null;
    }
    // A value ends here, and so do its containers while the next byte closes one.
    while (!opened) {
      if (depth === 0) return skipBlank(bytes, at) === bytes.length ? members : null;
      if (depth === 1 && isObject) {
        if (members.length === limits.members) return null;
        members.push({ nameStart, nameEnd, valueStart, valueEnd: at });
      }
      at = skipBlank(bytes, at);
      const next = bytes[at++];
      if (next === comma) {
        at = skipBlank(bytes, at);
        opened = true;
      } else if (next === (open[depth - 1] === 1 ? braceEnd : bracketEnd)) depth--;
      else return null;
    }
    if (open[depth - 1] === 0) continue;
    // A name and its colon.
    if (bytes[at] !== quote) return null;
    const end = stringEnd(bytes, at);
    if (end < 0) return null;
    const after = skipBlank(bytes, end);
    if (bytes[after] !== colon) return null;
    const value = skipBlank(bytes, after + 1);
    if (depth === 1) {
      nameStart = at;
      nameEnd = end;
      valueStart = value;
    }
    at = value;
  }
}

function skipBlank(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break;
    at++;
  }
  return at;
}

/** The offset after the string, number or literal at `from`; -1: none. */
function scalarEnd(bytes: Uint8Array, from: number): number {
  switch (bytes[from]) {
    case quote:
      return stringEnd(bytes, from);
    case 0x74:
      return wordEnd(bytes, from, 'true');
    case 0x66:
      return wordEnd(bytes, from, 'false');
    case 0x6e:
      return wordEnd(bytes, from, 'null');
    default:
      return numberEnd(bytes, from);
  }
}

function wordEnd(bytes: Uint8Array, from: number, word: string): number {
  for (let at = 0; at < word.length; at++) if (bytes[from + at] !== word.charCodeAt(at)) return -1;
  return from + word.length;
}

function stringEnd(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) return at + 1;
    if (byte < 0x20) return -1;
    if (byte !== backslash) continue;
    const escaped = bytes[++at];
    if (escaped === 0x75) {
      for (const end = at + 4; at < end; ) if (!isHexDigit(bytes[++at])) return -1;
    } else if (escaped === undefined || !escapes.includes(escaped)) return -1;
  }
  return -1;
}

/** `"`, `\`, `/`, b, f, n, r, t. */
const escapes = Buffer.from('"\\/bfnrt');

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= 0x39;
}

function numberEnd(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === minus ? from + 1 : from;
  if (bytes[at] === zero) at++;
  else at = digitsEnd(bytes, at);
  if (at > 0 && bytes[at] === 0x2e) at = digitsEnd(bytes, at + 1);
  if (at > 0 && ((bytes[at] as number) | 0x20) === 0x65) {
    const sign = bytes[at + 1];
    at = digitsEnd(bytes, sign === minus || sign === 0x2b ? at + 2 : at + 1);
  }
  return at;
}

/** The offset after one or more digits; -1: none. */
function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isDigit(bytes[at] as number)) at++;
  return at > from ? at : -1;
}
