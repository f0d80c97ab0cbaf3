import { type CharSet, complement, DIGITS, SPACE, WORD } from './char-set.ts';
import type { RegexReader } from './regex-reader.ts';

/** The meaning of an escape: a class such as `\d`, or one code point. */
export type Escape = { readonly set: CharSet } | { readonly code: number };

const CLASSES: ReadonlyMap<string, CharSet> = new Map([
  ['d', DIGITS],
  ['D', complement(DIGITS)],
  ['w', WORD],
  ['W', complement(WORD)],
  ['s', SPACE],
  ['S', complement(SPACE)],
]);

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['f', 0x0c],
  ['t', 0x09],
  ['n', 0x0a],
  ['r', 0x0d],
  ['v', 0x0b],
]);

const HEX = /(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/y;
const HEX_LONG = /(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4}))/y;

/** Parses an escape whose backslash has been consumed. */
export function parseEscape(reader: RegexReader): Escape {
  const char = reader.peek();
  const set = CLASSES.get(char);
  const control = CONTROLS.get(char);
  if (set !== undefined || control !== undefined || char === 'x' || char === 'u') reader.next();
  if (set !== undefined) return { set };
  if (control !== undefined) return { code: control };
  if (char === 'x') return { code: parseHex(reader, HEX) };
  if (char === 'u') return { code: parseHex(reader, HEX_LONG) };
  if (/[1-9]/.test(char)) throw reader.error('back-references are not supported');
  if (char === 'p' || char === 'P') throw reader.error('Unicode properties are not supported');
  if (/[A-Za-z0-9]/.test(char)) throw reader.error(`unknown escape '\\${char}'`);
  return { code: reader.next() };
}

function parseHex(reader: RegexReader, pattern: RegExp): number {
  const match = reader.takeMatch(pattern);
  const code = match === null ? Number.NaN : Number.parseInt(match[1] ?? match[2]!, 16);
  if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) throw reader.error('invalid hexadecimal escape');
  return code;
}
