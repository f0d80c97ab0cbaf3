/**
 * What the user accepts to lose, from `--without`: the name of a plugin, a collection (`consumer_groups`), an entity (`routes/users`),
 * or a field (`key-auth.identity_realms`, `services.tls_sans`).
 */
export class WithoutList {
  readonly #given: ReadonlySet<string>;
  readonly #used = new Set<string>();

  constructor(given: readonly string[]) {
    this.#given = new Set(given);
  }

  has(name: string): boolean {
    const found = this.#given.has(name);
    if (found) this.#used.add(name);
    return found;
  }

  /** Values that named nothing: probably misspelt. */
  unused(): readonly string[] {
    return [...this.#given].filter((name) => !this.#used.has(name));
  }
}
