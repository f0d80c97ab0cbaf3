/** Finds the few field names that a proxy must look at, at the price of one table look-up for all others. */
export class FieldNames {
  /** 1 where some name of that length and first letter is known. */
  readonly #gate = new Uint8Array(32 * 32);
  readonly #codes = new Map<string, number>();

  /** Names are lower case and at most 31 long; codes are above 0. */
  constructor(codes: Readonly<Record<string, number>>) {
    for (const [name, code] of Object.entries(codes)) {
      this.#codes.set(name, code);
      this.#gate[(name.length << 5) | (name.charCodeAt(0) & 31)] = 1;
    }
  }

  /**
   * The code of the name between two offsets, 0 when it is not known. Negative: the name was written with `_` for `-`.
   * Backends may fold the two, other parsers do not, so such a name can be dropped or refused but never be obeyed.
   */
  code(text: string, start: number, end: number): number {
    const length = end - start;
    if (length > 31 || this.#gate[(length << 5) | (text.charCodeAt(start) & 31)] === 0) return 0;
    const name = text.slice(start, end).toLowerCase();
    const code = this.#codes.get(name);
    if (code !== undefined) return code;
    return name.includes('_') ? -(this.#codes.get(name.replaceAll('_', '-')) ?? 0) : 0;
  }
}

/** Without the blanks around it (RFC 9110 5.6.3: space and tab, nothing else). */
export function trimBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return start === 0 && end === value.length ? value : value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
