import type { StoreStats } from '../../../plugin-sdk/shared-store.ts';
import { Flight, flightWays, flightWords, Header, Record, records, Slot } from './store-layout.ts';
import { StoreLock } from './store-lock.ts';
import { controlPlane, StoreMemory, threadNumber } from './store-memory.ts';
import { StoreSpace } from './store-space.ts';
import { statsOf } from './store-stats.ts';

/** Milliseconds to wait for the lock of a living thread: it may have been preempted while it held it. */
const lockTimeout = 100;

export function storeStats(memory: SharedArrayBuffer): StoreStats {
  return statsOf(new StoreMemory(memory));
}

/**
 * A worker has ended: releases its locks, frees the pages that it was writing to, and wakes threads that wait for it.
 * Call this in the control plane, before its successor starts. Complete entries stay.
 */
export function recoverStore(memory: SharedArrayBuffer, worker: number): void {
  const store = new StoreMemory(memory);
  const thread = threadNumber(worker);
  const space = new StoreSpace(store);
  const lock = new StoreLock(store.words, Header.lock, threadNumber(controlPlane));
  if (lock.inherit(thread)) {
    store.words[store.recordAt(thread) + Record.writing] = 0;
    new Repair(store, space).run();
    lock.open();
  } else if (store.words[store.recordAt(thread) + Record.writing] !== 0 && lock.take(lockTimeout)) {
    // Without the lock the successor does it.
    space.abandon(thread);
    lock.open();
  }
  endFlights(store, thread);
}

function endFlights({ words, geometry }: StoreMemory, thread: number): void {
  // What the thread was changing counts as a free slot until it is complete.
  const lock = new StoreLock(words, Header.flightLock, threadNumber(controlPlane));
  if (lock.inherit(thread)) lock.open();
  const end = geometry.flights + geometry.flightBuckets * flightWays * flightWords;
  for (let at = geometry.flights; at < end; at += flightWords) {
    const generation = Atomics.load(words, at);
    if ((generation & 1) === 0 || words[at + Flight.leader] !== thread) continue;
    if (Atomics.compareExchange(words, at, generation, generation + 1) === generation) Atomics.notify(words, at);
  }
}

/**
 * Rebuilds the pages' owners and the counts from the slots and from what living threads are writing: the thread that
 * had the lock ended during a change. Incomplete entries are dropped. Takes some milliseconds for 64 MiB, during which
 * writers time out; readers do not wait.
 */
class Repair {
  readonly #store: StoreMemory;
  readonly #space: StoreSpace;
  #pages = 0;

  constructor(store: StoreMemory, space: StoreSpace) {
    this.#store = store;
    this.#space = space;
  }

  run(): void {
    const { words, geometry } = this.#store;
    for (let page = 0; page < geometry.pageCount; page++) {
      // Reads first: writing would claim all memory of a nearly empty store.
      if (words[geometry.owners + page] !== 0) words[geometry.owners + page] = 0;
    }
    for (let thread = 1; thread <= records; thread++) this.#keepWriting(this.#store.recordAt(thread) + Record.writing);
    let entries = 0;
    for (let slot = 0; slot < geometry.slotCount; slot++) if (this.#keepEntry(slot)) entries++;
    Atomics.store(words, Header.entries, entries);
    Atomics.store(words, Header.usedPages, this.#pages);
  }

  #keepWriting(record: number): void {
    const { words, geometry } = this.#store;
    for (let page = words[record]! - 1; this.#isFree(page); page = this.#store.pageAfter(page)) {
      words[geometry.owners + page] = -1;
      this.#pages++;
    }
  }

  #keepEntry(slot: number): boolean {
    const { words, geometry } = this.#store;
    if (words[geometry.tags + slot] === 0) return false;
    const at = this.#store.slotAt(slot);
    const sequence = Atomics.load(words, at);
    const pages = words[at + Slot.pages]!;
    let page = words[at + Slot.firstPage]!;
    let owned = 0;
    while ((sequence & 1) === 1 && owned < pages && this.#isFree(page)) {
      words[geometry.owners + page] = slot + 1;
      page = this.#store.pageAfter(page);
      owned++;
    }
    this.#pages += owned;
    if ((sequence & 1) === 1 && owned === pages) return true;
    this.#drop(slot, owned);
    return false;
  }

  #drop(slot: number, owned: number): void {
    const { words } = this.#store;
    words[this.#store.slotAt(slot) + Slot.pages] = owned;
    this.#space.drop(slot);
    this.#pages -= owned;
  }

  #isFree(page: number): boolean {
    const { words, geometry } = this.#store;
    return page >= 0 && page < geometry.pageCount && words[geometry.owners + page] === 0;
  }
}
