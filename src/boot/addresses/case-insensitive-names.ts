/** A set of names that can be looked up regardless of case. */
export class CaseInsensitiveNames {
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

  /** The names with this lower-case form; a copy, so that names can be removed during an iteration. */
  of(key: string): readonly string[] {
    return [...(this.#names.get(key) ?? [])];
  }
}
