/** A map from a key to a set of values; keys without values are removed. */
export class MultiMap<K, V> {
  readonly #sets = new Map<K, Set<V>>();

  get(key: K): Iterable<V> {
    return this.#sets.get(key) ?? none;
  }

  add(key: K, value: V): void {
    const set = this.#sets.get(key);
    if (set === undefined) this.#sets.set(key, new Set([value]));
    else set.add(value);
  }

  delete(key: K, value: V): void {
    const set = this.#sets.get(key);
    if (set?.delete(value) && set.size === 0) this.#sets.delete(key);
  }
}

const none: readonly never[] = Object.freeze([]);
