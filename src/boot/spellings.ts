/** A set of names that are found again by their lower case. */
export class Spellings {
  readonly #names = new Map<string, Set<string>>();

  add(name: string): void {
    const key = name.toLowerCase();
    const names = this.#names.get(key);
    if (names === undefined) this.#names.set(key, new Set([name]));
    else names.add(name);
  }

  delete(name: string): boolean {
    const key = name.toLowerCase();
    const names = this.#names.get(key);
    if (names === undefined || !names.delete(name)) return false;
    if (names.size === 0) this.#names.delete(key);
    return true;
  }

  /** A copy, so that names may leave meanwhile. */
  of(key: string): readonly string[] {
    return [...(this.#names.get(key) ?? [])];
  }
}
