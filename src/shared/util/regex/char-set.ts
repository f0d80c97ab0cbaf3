/** A set of UTF-16 code units as sorted, disjoint, inclusive ranges: `[from, to, from, to, ...]`. */
export type CharSet = readonly number[];

export const MAX_CODE_UNIT = 0xffff;

export const DIGITS: CharSet = [0x30, 0x39];
export const WORD: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
export const SPACE: CharSet = [0x09, 0x0d, 0x20, 0x20];
export const NOT_NEWLINE: CharSet = [0, 0x09, 0x0b, MAX_CODE_UNIT];
export const ANY: CharSet = [0, MAX_CODE_UNIT];

const POSIX: ReadonlyMap<string, CharSet> = new Map<string, CharSet>([
  ['alnum', [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ['alpha', [0x41, 0x5a, 0x61, 0x7a]],
  ['ascii', [0x00, 0x7f]],
  ['blank', [0x09, 0x09, 0x20, 0x20]],
  ['cntrl', [0x00, 0x1f, 0x7f, 0x7f]],
  ['digit', DIGITS],
  ['graph', [0x21, 0x7e]],
  ['lower', [0x61, 0x7a]],
  ['print', [0x20, 0x7e]],
  ['punct', [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e]],
  ['space', SPACE],
  ['upper', [0x41, 0x5a]],
  ['word', WORD],
  ['xdigit', [0x30, 0x39, 0x41, 0x46, 0x61, 0x66]],
]);

export function posixSet(name: string): CharSet | null {
  return POSIX.get(name) ?? null;
}

export function singleChar(code: number): CharSet {
  return [code, code];
}

/** The only member of a set of one, else -1. */
export function onlyMember(set: CharSet): number {
  return set.length === 2 && set[0] === set[1] ? set[0]! : -1;
}

export function contains(set: CharSet, code: number): boolean {
  for (let i = 0; i < set.length; i += 2) if (code >= set[i]! && code <= set[i + 1]!) return true;
  return false;
}

export function union(...sets: CharSet[]): CharSet {
  const ranges: [number, number][] = [];
  for (const set of sets) for (let i = 0; i < set.length; i += 2) ranges.push([set[i]!, set[i + 1]!]);
  ranges.sort((a, b) => a[0] - b[0]);
  const merged: number[] = [];
  for (const [from, to] of ranges) {
    const last = merged.length - 1;
    if (last > 0 && from <= merged[last]! + 1) merged[last] = Math.max(merged[last]!, to);
    else merged.push(from, to);
  }
  return merged;
}

export function complement(set: CharSet): CharSet {
  const result: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if (set[i]! > next) result.push(next, set[i]! - 1);
    next = set[i + 1]! + 1;
  }
  if (next <= MAX_CODE_UNIT) result.push(next, MAX_CODE_UNIT);
  return result;
}

/** Adds the other case of every ASCII letter in the set. */
export function foldAsciiCase(set: CharSet): CharSet {
  const added: number[] = [];
  for (let upper = 0x41; upper <= 0x5a; upper++) {
    const lower = upper + 0x20;
    if (contains(set, upper) !== contains(set, lower)) added.push(upper, upper, lower, lower);
  }
  return added.length === 0 ? set : union(set, added);
}
