import { getHeapStatistics } from 'node:v8';
import { heapCeiling } from '../../shared/settings/heap-limit.ts';
import { collectGarbage } from '../../shared/util/process/collect-when-idle.ts';
import { monotonic } from '../../shared/util/time/clock.ts';

/**
 * Milliseconds between two collections of a heap that stays above its limit, and the fraction of the time that they may
 * take.
 */
const minPause = 1000;
const pausePerWork = 10;

/**
 * Measures the heap of this thread. V8 has a far higher limit (see `engineHeapLimit`) and no reason to collect garbage
 * before it, so a heap above `limit` is collected first: only live memory counts towards the ceiling.
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
    this.#collectAgain = ended + Math.max(minPause, pausePerWork * (ended - begun));
    return getHeapStatistics().used_heap_size;
  }
}
