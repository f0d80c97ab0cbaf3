import { copyMap } from '../../shared/util/copy-in-steps.ts';

/**
 * A map from a key to a set of values; keys without values are removed. Most keys have one value, which is stored without a set: that
 * saves most of the memory of a large config. A value is never a `Set`.
 */
export class MultiMap<K, V> {
  readonly #values = new Map<K, V | Set<V>>();

  /** Gives an empty map the values of another, in steps. */
  copyFrom(other: MultiMap<K, V>): Generator<void> {
    return copyMap(other.#values, this.#values, (value) => (value instanceof Set ? new Set(value) : value));
  }

  get(key: K): Iterable<V> {
    const found = this.#values.get(key);
    if (found === undefined) return none;
    return found instanceof Set ? found : [found];
  }

  add(key: K, value: V): void {
    const found = this.#values.get(key);
    if (found === undefined) this.#values.set(key, value);
    else if (found instanceof Set) found.add(value);
    else if (found !== value) this.#values.set(key, new Set([found, value]));
  }

  delete(key: K, value: V): void {
    const found = this.#values.get(key);
    if (found === value) this.#values.delete(key);
    else if (found instanceof Set && found.delete(value) && found.size === 0) this.#values.delete(key);
  }
}

const none: readonly never[] = Object.freeze([]);
