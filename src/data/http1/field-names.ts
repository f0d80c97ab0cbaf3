/**
 * Finds the few field names that a proxy must read. A name is first checked by its length and first letter; only one
 * that passes is compared, letter by letter and without making a string of it: hashing every name would cost more than
 * the rest of the walk.
 */
export class FieldNames {
  readonly #gates: (readonly Candidate[] | null)[] = new Array(32 * 32).fill(null);

  /** Names are lower case, at most 31 characters; codes are above 0. */
  constructor(codes: Readonly<Record<string, number>>) {
    for (const [name, code] of Object.entries(codes)) {
      const gate = (name.length << 5) | (name.charCodeAt(0) & 31);
      this.#gates[gate] = [...(this.#gates[gate] ?? []), { name, code }];
    }
  }

  /**
   * The code of the name between two offsets, 0 when it is not known. Negative: the name was written with `_` for `-`.
   * Backends may fold the two, other parsers do not, so such a name can be dropped or refused but never applied.
   */
  code(text: string, start: number, end: number): number {
    const length = end - start;
    if (length > 31) return 0;
    const candidates = this.#gates[(length << 5) | (text.charCodeAt(start) & 31)];
    if (candidates === null || candidates === undefined) return 0;
    for (let at = 0; at < candidates.length; at++) {
      const candidate = candidates[at] as Candidate;
      const sign = compare(text, start, candidate.name);
      if (sign !== 0) return sign * candidate.code;
    }
    return 0;
  }
}

interface Candidate {
  readonly name: string;
  readonly code: number;
}

/** 1: equal but for case; -1: equal when `_` reads as `-`; 0: different. */
function compare(text: string, start: number, name: string): number {
  let sign = 1;
  for (let at = 0; at < name.length; at++) {
    const wanted = name.charCodeAt(at);
    const found = text.charCodeAt(start + at);
    // Only letters differ by 32 between their cases, and a field name holds no control byte, so setting the bit is safe.
    if (found === wanted || (wanted >= 97 && (found | 32) === wanted)) continue;
    if (wanted !== 45 || found !== 95) return 0;
    sign = -1;
  }
  return sign;
}

/** Without the blanks around it (RFC 9110 5.6.3: space and tab, nothing else). */
export function trimBlanks(value: string): string {
  return valueIn(value, 0, value.length);
}

/** The same for a part of a head, which is cut out once. */
export function valueIn(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

export function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** The list with the value in this part of a head at its end. */
export function joinList(list: string, text: string, from: number, to: number): string {
  const value = valueIn(text, from, to);
  return list === '' ? value : `${list}, ${value}`;
}
