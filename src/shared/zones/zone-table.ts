import { createHash } from 'node:crypto';
import { KeyHash } from './key-hash.ts';
import * as layout from './zone-layout.ts';
import { zoneSeed } from './zone-seed.ts';

/** Spins before the thread sleeps: the holder needs less than a microsecond, unless it was preempted. */
const spins = 200;
/** Maximum sleep before the next attempt, in milliseconds. */
const maxSleepTime = 1;

/**
 * A table of a fixed size in shared memory, for counters that all workers of a node share. A key belongs to one bucket
 * of 15 slots, and the holder of the bucket's lock may read and change all slots of that key, so a decision over
 * several of them is one atomic step. In a full bucket an expired slot is reused, else the least recently used one.
 * Nothing is allocated, and keys are stored only as a keyed hash of 64 bits.
 *
 * Between `lock` and `unlock` no other code may run: no promise, no callback that could throw.
 */
export class ZoneTable {
  /** The fields of a slot are at its index plus `Field`. */
  readonly values: Float64Array;
  readonly #words: Int32Array;
  readonly #buckets: number;
  readonly #owner: number;
  readonly #seed: readonly [number, number];
  #lock = 0;
  #low = 0;
  #high = 0;

  /** `worker`: the number of this thread among those that share the memory, from 0. */
  constructor(memory: SharedArrayBuffer, worker: number) {
    this.values = new Float64Array(memory, 0, Math.floor(memory.byteLength / 8));
    this.#words = new Int32Array(memory, 0, Math.floor(memory.byteLength / 4));
    this.#buckets = layout.bucketsIn(memory);
    this.#owner = worker + 1;
    this.#seed = zoneSeed(this.#words);
  }

  /** Records which kind of limiter uses the table (`Content`); for processes that hand it over. */
  holds(content: number): void {
    const before = Atomics.compareExchange(this.#words, layout.Header.content, 0, content);
    if (before !== 0 && before !== content) Atomics.store(this.#words, layout.Header.content, layout.Content.mixed);
  }

  /** Identifies this memory: the same for all workers that share it, another one after a restart of the node. */
  get identity(): string {
    return createHash('sha256').update(this.#seed.join(':')).digest('base64url').slice(0, 16);
  }

  /** Hashes keys that begin with `namespace`. */
  hasher(namespace: string): KeyHash {
    return new KeyHash(this.#seed, namespace);
  }

  /** Locks the bucket of a key. Waits while another worker holds the lock. */
  lock(hash: KeyHash, key: string): void {
    hash.hash(key);
    this.#low = hash.low | 0;
    // 0 marks a free slot.
    if (this.#low === 0) this.#low = 1;
    this.#high = hash.high | 0;
    this.#lock = layout.firstBucket + (hash.high % this.#buckets) * layout.bucketWords;
    for (let tries = 0; Atomics.compareExchange(this.#words, this.#lock, 0, this.#owner) !== 0; tries++) {
      if (tries < spins) continue;
      const holder = Atomics.load(this.#words, this.#lock);
      if (holder !== 0) Atomics.wait(this.#words, this.#lock, holder, maxSleepTime);
    }
  }

  unlock(): void {
    Atomics.store(this.#words, this.#lock, 0);
  }

  /** The slot of the locked key with this tag, or -1. A key may have a slot for each of several tags. */
  find(tag: number): number {
    const words = this.#words;
    for (let way = 1; way <= layout.ways; way++) {
      if (words[this.#lock + way] !== this.#low) continue;
      const slot = this.#lock + way * layout.slotWords;
      if (words[slot] === this.#high && words[slot + 1] === tag) return slot >> 1;
    }
    return -1;
  }

  /**
   * The slot of the locked key with this tag; a new one has 0 in its values. -1: the bucket is full of slots that never
   * expire or belong to this same key.
   */
  claim(tag: number, now: number): number {
    const found = this.find(tag);
    if (found >= 0) return found;
    const way = this.#freeWay(now);
    if (way < 0) return -1;
    const slot = this.#lock + way * layout.slotWords;
    this.#words[slot] = this.#high;
    this.#words[slot + 1] = tag;
    const at = slot >> 1;
    this.values.fill(0, at + layout.Field.lastUsed, at + layout.slotWords / 2);
    // Last: a worker that dies in between leaves a slot that is never found.
    this.#words[this.#lock + way] = this.#low;
    return at;
  }

  /** Frees a slot of the locked key. */
  release(slot: number): void {
    const way = (slot * 2 - this.#lock) / layout.slotWords;
    this.#words[this.#lock + way] = 0;
    Atomics.sub(this.#words, layout.Header.used, 1);
  }

  /** Sum of a field over the locked key's slots whose tag is at least `from`. */
  sum(field: number, from: number): number {
    const words = this.#words;
    let sum = 0;
    for (let way = 1; way <= layout.ways; way++) {
      if (words[this.#lock + way] !== this.#low) continue;
      const slot = this.#lock + way * layout.slotWords;
      if (words[slot] === this.#high && words[slot + 1]! >= from) sum += this.values[(slot >> 1) + field]!;
    }
    return sum;
  }

  #freeWay(now: number): number {
    const words = this.#words;
    let oldest = -1;
    let oldestUse = Number.POSITIVE_INFINITY;
    for (let way = 1; way <= layout.ways; way++) {
      const low = words[this.#lock + way];
      if (low === 0) {
        Atomics.add(words, layout.Header.used, 1);
        return way;
      }
      const slot = this.#lock + way * layout.slotWords;
      const at = slot >> 1;
      const expiresAt = this.values[at + layout.Field.expiresAt]!;
      if (expiresAt <= now) return way;
      const lastUsed = this.values[at + layout.Field.lastUsed]!;
      const own = low === this.#low && words[slot] === this.#high;
      if (!own && lastUsed < oldestUse && expiresAt !== Number.POSITIVE_INFINITY) {
        oldest = way;
        oldestUse = lastUsed;
      }
    }
    if (oldest >= 0) Atomics.add(words, layout.Header.evictions, 1);
    return oldest;
  }
}
