import * as layout from './zone-layout.ts';

export interface ZoneStats {
  readonly bytes: number;
  /** Capacity in keys; a key with several windows uses as many. */
  readonly slots: number;
  readonly used: number;
  /** Keys that were evicted before they expired. */
  readonly evictions: number;
}

export function zoneStats(memory: SharedArrayBuffer): ZoneStats {
  const words = new Int32Array(memory, 0, layout.bucketWords);
  return {
    bytes: memory.byteLength,
    slots: layout.bucketsIn(memory) * layout.ways,
    used: Atomics.load(words, layout.Header.used),
    evictions: Atomics.load(words, layout.Header.evictions) >>> 0,
  };
}

/** Milliseconds to wait for the lock of a living worker: it may have been preempted while it held it. */
const lockTimeout = 100;

/**
 * A worker has ended: releases its locks, and no longer counts its requests in flight. Call this before its successor
 * starts.
 */
export function recoverZone(memory: SharedArrayBuffer, worker: number): void {
  const words = new Int32Array(memory, 0, Math.floor(memory.byteLength / 4));
  const buckets = layout.bucketsIn(memory);
  const owner = worker + 1;
  const tag = layout.workerTag(worker);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const lock = layout.firstBucket + bucket * layout.bucketWords;
    // Reads first: an exchange always writes, and would claim all memory of a nearly empty zone.
    if (Atomics.load(words, lock) === owner && Atomics.compareExchange(words, lock, owner, 0) === owner) {
      Atomics.notify(words, lock);
    }
    for (let way = 1; way <= layout.ways; way++) {
      const slot = lock + way * layout.slotWords;
      if (words[lock + way] === 0 || words[slot + 1] !== tag) continue;
      if (!takeLock(words, lock, owner)) continue;
      if (words[lock + way] !== 0 && words[slot + 1] === tag && releaseWorker(memory, slot >> 1, worker) === 0) {
        words[lock + way] = 0;
        Atomics.sub(words, layout.Header.used, 1);
      }
      Atomics.store(words, lock, 0);
    }
  }
}

/** Returns the requests in flight of the slot's other workers. */
function releaseWorker(memory: SharedArrayBuffer, slot: number, worker: number): number {
  const cells = new Uint16Array(memory, layout.workerCell(slot, 0) * 2, layout.workersPerSlot);
  cells[worker % layout.workersPerSlot] = 0;
  const left = cells.reduce((sum, count) => sum + count, 0);
  new Float64Array(memory, 0, Math.floor(memory.byteLength / 8))[slot + layout.Field.first] = left;
  return left;
}

/** Holders need less than a microsecond, unless they were preempted. */
function takeLock(words: Int32Array, lock: number, owner: number): boolean {
  const deadline = performance.now() + lockTimeout;
  for (;;) {
    const holder = Atomics.compareExchange(words, lock, 0, owner);
    if (holder === 0) return true;
    if (performance.now() > deadline) return false;
    Atomics.wait(words, lock, holder, 1);
  }
}
