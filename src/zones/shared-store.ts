import { setImmediate as turn } from 'node:timers/promises';
import type {
  FlightWait,
  ScannedEntry,
  SharedStore,
  SharedStoreValue,
  StoredValue,
} from '../plugin-sdk/shared-store.ts';
import { sharedClock } from '../util/clock.ts';
import { KeyHash } from './key-hash.ts';
import { PageCursor } from './store-copy.ts';
import { StoreFlights } from './store-flights.ts';
import { isStorableKey, StoreIndex } from './store-index.ts';
import { Header, mostUses, Record, Slot } from './store-layout.ts';
import { StoreLock } from './store-lock.ts';
import { StoreMemory, threadNumber } from './store-memory.ts';
import { pagesFor, StoreSpace } from './store-space.ts';
import { type StoreStats, statsOf } from './store-stats.ts';
import { zoneSeed } from './zone-seed.ts';

export type { StoreStats };

export interface ZoneStoreOptions {
  /** Number of the worker, -1: the control plane. */
  readonly worker: number;
  readonly namespace: string;
  readonly now: () => number;
}

/** Milliseconds that a writer waits for others; when that was not enough, for a while less: the lock's holder may have ended. */
const patience = 5;
const pause = 50;
const patienceInPause = 0.25;
/** Pages that are taken in one go, so that large entries keep nobody waiting. */
const pagesAtOnce = 256;
/** Readings of an entry that is changed again and again. */
const mostTries = 4;
/** An entry takes half of the store at most. */
const mostShare = 2;
/** Slots between two looks at the clock, and milliseconds of one step, when all entries are gone through. */
const slotsAtOnce = 256;
const stepTime = 1;

const high = 2 ** 32;

/** See `SharedStore`. Writers have one lock, for the moments in which pages change hands; bytes are copied outside of it. */
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
    this.#index.aim(key);
    for (let tries = 0; tries < mostTries; tries++) {
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
    this.#index.aim(key);
    for (let tries = 0; tries < mostTries; tries++) {
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
    if (pages > this.#memory.geometry.pageCount / mostShare || !this.#takePages(pages)) {
      this.delete(key);
      return false;
    }
    const { first, last } = this.#space;
    this.#index.writeKey(key, first);
    this.#cursor.begin(first, pages, keyBytes);
    this.#cursor.write(value.meta);
    this.#cursor.write(value.body);
    this.#index.aim(key);
    if (!this.#take()) {
      // The pages are given back with the next entry.
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
    this.#index.aim(key);
    for (let tries = 0; tries < mostTries; tries++) {
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
    // First of all and without the lock: what is removed is gone, whatever others do.
    if (Atomics.compareExchange(words, at, sequence, sequence + 1) !== sequence) return false;
    Atomics.sub(words, Header.entries, 1);
    // Without the lock the pages are given back when the hand comes by.
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
      await turn();
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
    for (let tries = 0; tries < mostTries; tries++) {
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

  /** A copy of an entry, without its body that of key and meta; null: it was changed meanwhile. */
  #copy(slot: number, sequence: number, withBody: boolean): StoredValue | null {
    const { words, geometry } = this.#memory;
    const at = this.#memory.slotAt(slot);
    const pages = words[at + Slot.pages]!;
    const keyBytes = words[at + Slot.keyBytes]!;
    const metaBytes = words[at + Slot.metaBytes]!;
    const bodyBytes = words[at + Slot.bodyBytes]!;
    const firstPage = words[at + Slot.firstPage]!;
    const expires = this.#memory.expiresAt(at);
    // What was just read is of one piece, so that a size is one that an entry had.
    if (Atomics.load(words, at) !== sequence || pages > geometry.pageCount) return null;
    const bytes = Buffer.allocUnsafe(withBody ? metaBytes + bodyBytes : keyBytes + metaBytes);
    this.#cursor.begin(firstPage, pages, withBody ? keyBytes : 0);
    // An exchange rather than a load: a load does not keep the reads before it from happening later on all processors.
    if (!this.#cursor.read(bytes) || Atomics.add(words, at, 0) !== sequence) return null;
    const metaEnd = withBody ? metaBytes : keyBytes + metaBytes;
    return {
      meta: bytes.subarray(0, metaEnd),
      body: bytes.subarray(metaEnd),
      expires,
      version: versionOf(slot, sequence),
    };
  }

  /** Counts a hit and remembers that the entry is in use. */
  #touch(at: number): void {
    const { words, doubles } = this.#memory;
    if (words[at + Slot.uses]! < mostUses) words[at + Slot.uses]!++;
    doubles[(this.#record >> 1) + Record.hits]! += 1;
  }

  #takePages(count: number): boolean {
    const { words } = this.#memory;
    this.#space.begin();
    for (let missing = count; missing > 0; missing -= pagesAtOnce) {
      if (!this.#take()) return false;
      // What this thread, or the one before it of the same number, could not bring to an end.
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
    if (this.#lock.take(now < this.#pausedUntil ? patienceInPause : patience)) return true;
    this.#pausedUntil = now + pause;
    return false;
  }
}

function versionOf(slot: number, sequence: number): number {
  return slot * high + (sequence >>> 0);
}
