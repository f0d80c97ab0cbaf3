import { setImmediate as nextIteration } from 'node:timers/promises';
import type {
  FlightWait,
  ScannedEntry,
  SharedStore,
  SharedStoreValue,
  StoredValue,
  StoreStats,
} from '../../../plugin-sdk/shared-store.ts';
import { sharedClock } from '../../util/time/clock.ts';
import { KeyHash } from '../key-hash.ts';
import { zoneSeed } from '../zone-seed.ts';
import { PageCursor } from './store-copy.ts';
import { StoreFlights } from './store-flights.ts';
import { isStorableKey, StoreIndex } from './store-index.ts';
import { Header, maxUses, Record, Slot } from './store-layout.ts';
import { StoreLock } from './store-lock.ts';
import { StoreMemory, threadNumber } from './store-memory.ts';
import { pagesFor, StoreSpace } from './store-space.ts';
import { statsOf } from './store-stats.ts';

export interface ZoneStoreOptions {
  /** Number of the worker, -1: the control plane. */
  readonly worker: number;
  readonly namespace: string;
  readonly now: () => number;
}

/** Milliseconds that a writer waits for others; after a timeout, for a while less: the lock's holder may have ended. */
const lockTimeout = 5;
const pause = 50;
const shortLockTimeout = 0.25;
/** Pages that are allocated in one go, so that large entries block no other thread. */
const pagesAtOnce = 256;
/** Attempts to read an entry that keeps changing. */
const maxTries = 4;
/** Maximum share of the store for one entry. */
const maxShare = 2;
/** Slots between two checks of the clock, and milliseconds of one step, when all entries are visited. */
const slotsAtOnce = 256;
const stepTime = 1;

const high = 2 ** 32;

/**
 * See `SharedStore`. Writers share one lock, for the moments in which pages change owners; bytes are copied outside of
 * it.
 */
export class ZoneStore implements SharedStore {
  readonly #memory: StoreMemory;
  readonly #index: StoreIndex;
  readonly #space: StoreSpace;
  readonly #cursor: PageCursor;
  readonly #lock: StoreLock;
  readonly #flights: StoreFlights;
  readonly #thread: number;
  readonly #record: number;
  readonly #namespace: string;
  readonly #now: () => number;
  #pausedUntil = 0;

  constructor(memory: SharedArrayBuffer, { worker, namespace, now }: ZoneStoreOptions) {
    if (!isStorableKey('', namespace)) throw new TypeError('a namespace is short and latin1');
    this.#memory = new StoreMemory(memory);
    const { words } = this.#memory;
    const hash = new KeyHash(zoneSeed(words), namespace);
    this.#thread = threadNumber(worker);
    this.#record = this.#memory.recordAt(this.#thread);
    this.#index = new StoreIndex(this.#memory, hash, namespace);
    this.#space = new StoreSpace(this.#memory);
    this.#cursor = new PageCursor(this.#memory);
    this.#lock = new StoreLock(words, Header.lock, this.#thread);
    this.#flights = new StoreFlights(this.#memory, hash, this.#thread, sharedClock());
    this.#namespace = namespace;
    this.#now = now;
  }

  get(key: string): StoredValue | null {
    this.#index.setKey(key);
    for (let tries = 0; tries < maxTries; tries++) {
      const slot = this.#index.find(key);
      if (slot < 0) {
        if (this.#index.unsure) continue;
        break;
      }
      const at = this.#memory.slotAt(slot);
      if (this.#memory.expiresAt(at) <= this.#now()) break;
      const value = this.#copy(slot, this.#index.sequence, true);
      if (value === null) continue;
      this.#touch(at);
      return value;
    }
    this.#memory.doubles[(this.#record >> 1) + Record.misses]! += 1;
    return null;
  }

  version(key: string): number {
    this.#index.setKey(key);
    for (let tries = 0; tries < maxTries; tries++) {
      const slot = this.#index.find(key);
      if (slot >= 0) return versionOf(slot, this.#index.sequence);
      if (!this.#index.unsure) break;
    }
    return 0;
  }

  isCurrent(version: number): boolean {
    const at = this.#memory.slotAt(Math.floor(version / high));
    if ((version & 1) === 0 || Atomics.load(this.#memory.words, at) !== (version | 0)) return false;
    this.#touch(at);
    return true;
  }

  put(key: string, value: SharedStoreValue): boolean {
    if (!isStorableKey(key, this.#namespace)) throw new TypeError('keys of a store are short and latin1');
    const keyBytes = this.#namespace.length + key.length;
    const pages = pagesFor(keyBytes + value.meta.length + value.body.length);
    if (pages > this.#memory.geometry.pageCount / maxShare || !this.#takePages(pages)) {
      this.delete(key);
      return false;
    }
    const { first, last } = this.#space;
    this.#index.writeKey(key, first);
    this.#cursor.begin(first, pages, keyBytes);
    this.#cursor.write(value.meta);
    this.#cursor.write(value.body);
    this.#index.setKey(key);
    if (!this.#take()) {
      // The pages are freed with the next entry.
      this.delete(key);
      return false;
    }
    const slot = this.#index.claim(key, this.#space, this.#now());
    this.#space.own(first, pages, slot);
    const { words, doubles } = this.#memory;
    const at = this.#memory.slotAt(slot);
    words[at + Slot.firstPage] = first;
    words[at + Slot.lastPage] = last;
    words[at + Slot.pages] = pages;
    words[at + Slot.keyBytes] = keyBytes;
    words[at + Slot.metaBytes] = value.meta.length;
    words[at + Slot.bodyBytes] = value.body.length;
    words[at + Slot.uses] = 0;
    doubles[(at + Slot.expires) >> 1] = value.expires;
    Atomics.add(words, Header.entries, 1);
    Atomics.add(words, at, 1);
    words[this.#record + Record.writing] = 0;
    this.#lock.open();
    return true;
  }

  delete(key: string): boolean {
    this.#index.setKey(key);
    for (let tries = 0; tries < maxTries; tries++) {
      const slot = this.#index.find(key);
      if (slot >= 0) {
        if (this.remove(versionOf(slot, this.#index.sequence))) return true;
      } else if (!this.#index.unsure) {
        return false;
      }
    }
    return false;
  }

  remove(version: number): boolean {
    const { words } = this.#memory;
    const slot = Math.floor(version / high);
    const sequence = version | 0;
    const at = this.#memory.slotAt(slot);
    if ((sequence & 1) === 0) return false;
    // First and without the lock: the removal is visible at once, whatever other threads do.
    if (Atomics.compareExchange(words, at, sequence, sequence + 1) !== sequence) return false;
    Atomics.sub(words, Header.entries, 1);
    // Without the lock the pages are freed when the clock hand passes.
    if (this.#take()) {
      if (Atomics.load(words, at) === ((sequence + 1) | 0)) this.#space.drop(slot);
      this.#lock.open();
    }
    return true;
  }

  scan(cursor: number, slots: number, visit: (entry: ScannedEntry) => void): number {
    const { words, geometry } = this.#memory;
    const end = Math.min(cursor + slots, geometry.slotCount);
    for (let slot = cursor; slot < end; slot++) {
      if (words[geometry.tags + slot] === 0) continue;
      const entry = this.#scanned(slot);
      if (entry?.key.startsWith(this.#namespace) === true) {
        visit({ ...entry, key: entry.key.slice(this.#namespace.length) });
      }
    }
    return end >= geometry.slotCount ? -1 : end;
  }

  async removeWhere(test: (entry: ScannedEntry) => boolean): Promise<number> {
    let removed = 0;
    const visit = (entry: ScannedEntry): void => {
      if (test(entry) && this.remove(entry.version)) removed++;
    };
    let until = performance.now() + stepTime;
    for (let cursor = 0; cursor >= 0; ) {
      cursor = this.scan(cursor, slotsAtOnce, visit);
      if (performance.now() < until) continue;
      await nextIteration();
      until = performance.now() + stepTime;
    }
    return removed;
  }

  board(key: string, lease: number): FlightWait | null {
    return this.#flights.board(key, lease);
  }

  land(key: string): void {
    this.#flights.land(key);
  }

  stats(): StoreStats {
    return statsOf(this.#memory);
  }

  #scanned(slot: number): ScannedEntry | null {
    const { words } = this.#memory;
    const at = this.#memory.slotAt(slot);
    for (let tries = 0; tries < maxTries; tries++) {
      const sequence = Atomics.load(words, at);
      if ((sequence & 1) === 0) return null;
      const bodyBytes = words[at + Slot.bodyBytes]!;
      const keyBytes = words[at + Slot.keyBytes]!;
      const value = this.#copy(slot, sequence, false);
      if (value === null) continue;
      const key = value.meta.toString('latin1', 0, keyBytes);
      return { key, meta: value.meta.subarray(keyBytes), bodyBytes, expires: value.expires, version: value.version };
    }
    return null;
  }

  /** A copy of an entry, without its body that of key and meta; null: it changed meanwhile. */
  #copy(slot: number, sequence: number, withBody: boolean): StoredValue | null {
    const { words, geometry } = this.#memory;
    const at = this.#memory.slotAt(slot);
    const pages = words[at + Slot.pages]!;
    const keyBytes = words[at + Slot.keyBytes]!;
    const metaBytes = words[at + Slot.metaBytes]!;
    const bodyBytes = words[at + Slot.bodyBytes]!;
    const firstPage = words[at + Slot.firstPage]!;
    const expires = this.#memory.expiresAt(at);
    // The fields were read consistently, so a size is one that an entry had.
    if (Atomics.load(words, at) !== sequence || pages > geometry.pageCount) return null;
    const bytes = Buffer.allocUnsafe(withBody ? metaBytes + bodyBytes : keyBytes + metaBytes);
    this.#cursor.begin(firstPage, pages, withBody ? keyBytes : 0);
    // An exchange instead of a load: on some processors a load does not keep earlier reads from happening after it.
    if (!this.#cursor.read(bytes) || Atomics.add(words, at, 0) !== sequence) return null;
    const metaEnd = withBody ? metaBytes : keyBytes + metaBytes;
    return {
      meta: bytes.subarray(0, metaEnd),
      body: bytes.subarray(metaEnd),
      expires,
      version: versionOf(slot, sequence),
    };
  }

  /** Counts a hit and marks the entry as used. */
  #touch(at: number): void {
    const { words, doubles } = this.#memory;
    if (words[at + Slot.uses]! < maxUses) words[at + Slot.uses]!++;
    doubles[(this.#record >> 1) + Record.hits]! += 1;
  }

  #takePages(count: number): boolean {
    const { words } = this.#memory;
    this.#space.begin();
    for (let missing = count; missing > 0; missing -= pagesAtOnce) {
      if (!this.#take()) return false;
      // Writes that this thread, or its predecessor of the same number, could not complete.
      if (missing === count && words[this.#record + Record.writing] !== 0) this.#space.abandon(this.#thread);
      const taken = this.#space.take(Math.min(missing, pagesAtOnce), this.#thread, this.#now());
      if (!taken) this.#space.abandon(this.#thread);
      this.#lock.open();
      if (!taken) return false;
    }
    return true;
  }

  #take(): boolean {
    const now = performance.now();
    if (this.#lock.take(now < this.#pausedUntil ? shortLockTimeout : lockTimeout)) return true;
    this.#pausedUntil = now + pause;
    return false;
  }
}

function versionOf(slot: number, sequence: number): number {
  return slot * high + (sequence >>> 0);
}
