import { type CharSet, complement, MAX_CODE_UNIT, posixSet, singleChar, union } from './char-set.ts';
import { type Escape, parseEscape } from './parse-escape.ts';
import type { RegexReader } from './regex-reader.ts';

/** A bracketed class: a set of single code units, and code points that need several (only in a positive class). */
export interface ParsedClass {
  readonly set: CharSet;
  readonly long: readonly number[];
}

const POSIX = /\[:(\^?)([a-z]+):\]/y;

/**
 * Parses a class whose `[` has been consumed. Code points above `highest` need several code units of the matched text
 * (0x7f when it is UTF-8 bytes, 0xffff otherwise).
 */
export function parseClass(reader: RegexReader, highest: number): ParsedClass {
  const negated = reader.take('^');
  const sets: CharSet[] = [];
  const long: number[] = [];
  for (let first = true; first || reader.peek() !== ']'; first = false) {
    if (reader.done) throw reader.error("missing ']'");
    const item = parseItem(reader);
    if ('set' in item) {
      sets.push(item.set);
      continue;
    }
    const to = parseRangeEnd(reader);
    if (to !== null) {
      if (to < item.code) throw reader.error('class range out of order');
      if (to > highest) throw reader.error('a class range of non-ASCII characters is not supported');
      sets.push([item.code, to]);
    } else if (item.code > highest) {
      if (negated) throw reader.error('a negated class of non-ASCII characters is not supported');
      long.push(item.code);
    } else {
      sets.push(singleChar(item.code));
    }
  }
  reader.take(']');
  const set = union(...sets);
  return { set: negated ? complement(set) : set, long };
}

function parseItem(reader: RegexReader): Escape {
  const posix = reader.takeMatch(POSIX);
  if (posix !== null) {
    const set = posixSet(posix[2]!);
    if (set === null) throw reader.error(`unknown class [:${posix[2]}:]`);
    return { set: posix[1] === '^' ? complement(set) : set };
  }
  // Rust interprets these as nested classes and set operations, PCRE as plain characters: both are rejected.
  if (reader.peek() === '[') throw reader.error("'[' in a class must be escaped");
  if (reader.take('&&') || reader.take('--') || reader.take('~~')) {
    throw reader.error('set operations in a class are not supported');
  }
  if (!reader.take('\\')) return { code: reader.next() };
  if (reader.take('b')) throw reader.error("unknown escape '\\b' in a class");
  return parseEscape(reader);
}

/** The end of a range when the cursor is at `-` and more than the closing bracket follows, else null. */
function parseRangeEnd(reader: RegexReader): number | null {
  if (reader.peek() !== '-') return null;
  const after = reader.source.charAt(reader.position + 1);
  if (after === ']' || after === '') return null;
  reader.take('-');
  const end = parseItem(reader);
  if ('set' in end) throw reader.error('a class cannot end a range');
  if (end.code > MAX_CODE_UNIT) throw reader.error('a class range of such characters is not supported');
  return end.code;
}
