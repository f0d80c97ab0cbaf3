/**
 * A map of bounded size that forgets what was not asked for lately. Two generations: when the young one is full it
 * becomes the old one, and what is still asked for moves over. A hit costs one look-up, so it suits the hot path.
 */
export class BoundedCache<K, V> {
  readonly #half: number;
  readonly #forgotten: ((key: K, value: V) => void) | null;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /**
   * Holds at least `size` / 2 and at most `size` entries. `forgotten` is told of each entry that leaves, for whatever
   * reason, a new value for its key included.
   */
  constructor(size: number, forgotten: ((key: K, value: V) => void) | null = null) {
    this.#half = Math.max(1, Math.floor(size / 2));
    this.#forgotten = forgotten;
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
    for (const generation of all) this.#forgetAll(generation);
  }

  #keep(key: K, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#half) return;
    const passing = this.#old;
    this.#old = this.#young;
    this.#young = new Map();
    this.#forgetAll(passing);
  }

  #drop(generation: Map<K, V>, key: K): boolean {
    if (this.#forgotten === null) return generation.delete(key);
    const value = generation.get(key);
    if (value === undefined) return false;
    generation.delete(key);
    this.#forgotten(key, value);
    return true;
  }

  #forgetAll(generation: ReadonlyMap<K, V>): void {
    if (this.#forgotten === null) return;
    for (const [key, value] of generation) this.#forgotten(key, value);
  }
}
