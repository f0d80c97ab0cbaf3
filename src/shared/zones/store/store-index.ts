import type { KeyHash } from '../key-hash.ts';
import { Header, pageBytes, Slot, ways } from './store-layout.ts';
import type { StoreMemory } from './store-memory.ts';
import type { StoreSpace } from './store-space.ts';

/** Maximum bytes of a key: it must fit into the first page of its entry. */
export const maxKeyBytes = 512;

/**
 * Finds the slot of a key. The hash only says where to search: a key is found when the entry begins with all of its
 * characters. Nothing here waits; a result is valid while the slot's sequence is unchanged.
 */
export class StoreIndex {
  readonly #memory: StoreMemory;
  readonly #hash: KeyHash;
  readonly #namespace: string;
  #low = 0;
  #high = 0;
  #firstSlot = 0;
  /** Sequence of the slot that `find` returned. */
  sequence = 0;
  /** `find` met a slot that may be the key's and was being changed. */
  unsure = false;

  constructor(memory: StoreMemory, hash: KeyHash, namespace: string) {
    this.#memory = memory;
    this.#hash = hash;
    this.#namespace = namespace;
  }

  /** The key for the other calls. */
  setKey(key: string): void {
    this.#hash.hash(key);
    // 0 marks a free slot.
    this.#low = this.#hash.low | 0 || 1;
    this.#high = this.#hash.high | 0;
    this.#firstSlot = (this.#hash.high % (this.#memory.geometry.slotCount / ways)) * ways;
  }

  /** The slot of the key, or -1. */
  find(key: string): number {
    const { words, geometry } = this.#memory;
    this.unsure = false;
    for (let slot = this.#firstSlot; slot < this.#firstSlot + ways; slot++) {
      if (Atomics.load(words, geometry.tags + slot) !== this.#low) continue;
      const at = this.#memory.slotAt(slot);
      const sequence = Atomics.load(words, at);
      if ((sequence & 1) === 0) {
        this.unsure = true;
        continue;
      }
      if (words[at + Slot.high] === this.#high && this.#hasKey(at, key)) {
        this.sequence = sequence;
        return slot;
      }
      if (Atomics.load(words, at) !== sequence) this.unsure = true;
    }
    return -1;
  }

  /** For the thread that has the lock: the slot for the key, without an entry in it. */
  claim(key: string, space: StoreSpace, now: number): number {
    const found = this.find(key);
    if (found >= 0) {
      space.clear(found);
      return found;
    }
    const { words, geometry } = this.#memory;
    const slot = this.#victim(now);
    const at = this.#memory.slotAt(slot);
    if (words[geometry.tags + slot] !== 0) {
      if ((Atomics.load(words, at) & 1) === 1 && this.#memory.expiresAt(at) > now)
        Atomics.add(words, Header.evictions, 1);
      space.drop(slot);
    }
    words[at + Slot.high] = this.#high;
    Atomics.store(words, geometry.tags + slot, this.#low);
    return slot;
  }

  writeKey(key: string, page: number): void {
    const at = this.#memory.pageAt(page);
    this.#memory.bytes.write(this.#namespace, at, 'latin1');
    this.#memory.bytes.write(key, at + this.#namespace.length, 'latin1');
  }

  #hasKey(at: number, key: string): boolean {
    const { words, bytes, geometry } = this.#memory;
    const page = words[at + Slot.firstPage]!;
    const namespace = this.#namespace;
    if (words[at + Slot.keyBytes] !== namespace.length + key.length || page < 0 || page >= geometry.pageCount)
      return false;
    const from = this.#memory.pageAt(page);
    for (let place = 0; place < namespace.length; place++) {
      if (bytes[from + place] !== namespace.charCodeAt(place)) return false;
    }
    const keyFrom = from + namespace.length;
    for (let place = 0; place < key.length; place++) {
      if (bytes[keyFrom + place] !== key.charCodeAt(place)) return false;
    }
    return true;
  }

  /** A free slot of the bucket, else an expired one, else one that was not used recently. */
  #victim(now: number): number {
    const { words, geometry } = this.#memory;
    let idle = -1;
    let over = -1;
    for (let slot = this.#firstSlot; slot < this.#firstSlot + ways; slot++) {
      if (words[geometry.tags + slot] === 0) return slot;
      const at = this.#memory.slotAt(slot);
      if ((Atomics.load(words, at) & 1) === 0 || this.#memory.expiresAt(at) <= now) over = slot;
      else if (words[at + Slot.uses] === 0) idle = slot;
    }
    if (over >= 0) return over;
    if (idle >= 0) return idle;
    for (let slot = this.#firstSlot; slot < this.#firstSlot + ways; slot++) {
      words[this.#memory.slotAt(slot) + Slot.uses] = 0;
    }
    return this.#firstSlot + (words[Header.evictions]! & (ways - 1));
  }
}

/** True for keys that a store accepts. */
export function isStorableKey(key: string, namespace: string): boolean {
  if (key.length + namespace.length > Math.min(maxKeyBytes, pageBytes)) return false;
  for (let at = 0; at < key.length; at++) if (key.charCodeAt(at) > 255) return false;
  return true;
}
