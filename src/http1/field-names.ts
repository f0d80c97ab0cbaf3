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

  /** The code of the name between two offsets, 0 when it is not known. `_` reads as `-`: backends may fold the two. */
  code(text: string, start: number, end: number): number {
    const length = end - start;
    if (length > 31 || this.#gate[(length << 5) | (text.charCodeAt(start) & 31)] === 0) return 0;
    let name = text.slice(start, end).toLowerCase();
    if (name.includes('_')) name = name.replaceAll('_', '-');
    return this.#codes.get(name) ?? 0;
  }
}
