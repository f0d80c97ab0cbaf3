/**
 * A map of bounded size that evicts entries that were not used recently. Two generations: when the young one is full it
 * becomes the old one, and entries that are still used move over. A hit costs one lookup, so it suits the hot path.
 */
export class BoundedCache<K, V> {
  readonly #half: number;
  readonly #evicted: ((key: K, value: V) => void) | null;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /**
   * Holds at least `size` / 2 and at most `size` entries. `evicted` is called for each entry that is removed, for any
   * reason, including a new value for its key.
   */
  constructor(size: number, evicted: ((key: K, value: V) => void) | null = null) {
    this.#half = Math.max(1, Math.floor(size / 2));
    this.#evicted = evicted;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.#keep(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#keep(key, value);
  }

  delete(key: K): boolean {
    const young = this.#drop(this.#young, key);
    return this.#drop(this.#old, key) || young;
  }

  *entries(): Generator<readonly [K, V]> {
    yield* this.#old;
    yield* this.#young;
  }

  clear(): void {
    const all = [this.#young, this.#old];
    this.#young = new Map();
    this.#old = new Map();
    for (const generation of all) this.#reportAll(generation);
  }

  #keep(key: K, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#half) return;
    const expired = this.#old;
    this.#old = this.#young;
    this.#young = new Map();
    this.#reportAll(expired);
  }

  #drop(generation: Map<K, V>, key: K): boolean {
    if (this.#evicted === null) return generation.delete(key);
    const value = generation.get(key);
    if (value === undefined) return false;
    generation.delete(key);
    this.#evicted(key, value);
    return true;
  }

  #reportAll(generation: ReadonlyMap<K, V>): void {
    if (this.#evicted === null) return;
    for (const [key, value] of generation) this.#evicted(key, value);
  }
}
