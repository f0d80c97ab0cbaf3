import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Settings } from '../settings/settings.ts';
import { monotonic } from '../util/clock.ts';
import { collectGarbage } from '../util/collect-at-rest.ts';

const mebibyte = 1024 ** 2;
const smallest = 128 * mebibyte;
const largest = 2048 * mebibyte;
const leastRoom = 128 * mebibyte;
const leastReserve = 512 * mebibyte;

/** Bytes of heap that one worker may use. */
export function workerHeapLimit({
  workerMaxHeapSize,
  workers,
}: Pick<Settings, 'workerMaxHeapSize' | 'workers'>): number {
  if (workerMaxHeapSize > 0) return workerMaxHeapSize;
  // Includes the limit of a container; 0: unlimited.
  const available = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.min(largest, Math.max(smallest, Math.floor(available / 2 / workers)));
}

/**
 * A worker whose heap is larger is replaced at once, whatever it does. Well above a small limit: the garbage of building a
 * large config, which V8 has not collected yet, is several times the config itself.
 */
export function heapCeiling(limit: number): number {
  return limit + Math.max(limit / 4, leastRoom);
}

/** Milliseconds between two collections of a heap that stays above its limit, and part of the time that they may take. */
const leastPause = 1000;
const pausePerWork = 10;

/**
 * Measures the heap of this thread. V8 has a far higher limit (see `engineHeapLimit`) and sees no reason to collect
 * garbage before, so a heap above `limit` is collected: what counts towards the ceiling is what is still in use.
 */
export class HeapGauge {
  readonly #limit: number;
  readonly #ceiling: number;
  #collectAgain = 0;

  constructor(limit: number, ceiling = heapCeiling(limit)) {
    this.#limit = limit;
    this.#ceiling = ceiling;
  }

  /** Bytes in use. */
  read(): number {
    const used = getHeapStatistics().used_heap_size;
    if (used <= this.#limit) return used;
    const begun = monotonic();
    if (used <= this.#ceiling && begun < this.#collectAgain) return used;
    collectGarbage('regular');
    const ended = monotonic();
    this.#collectAgain = ended + Math.max(leastPause, pausePerWork * (ended - begun));
    return getHeapStatistics().used_heap_size;
  }
}

/**
 * V8's own limit in MiB, the last resort: a thread that reaches it during an allocation of native code (an
 * array that grows, a large JSON text) ends the whole process. It leaves the watchdog time to end the worker first.
 */
export function engineHeapLimit(limit: number): number {
  return Math.ceil((heapCeiling(limit) + Math.max(limit * 0.75, leastReserve)) / mebibyte);
}
