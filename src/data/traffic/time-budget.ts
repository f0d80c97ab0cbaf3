import { monotonic } from '../../shared/util/time/clock.ts';
import { threadCpuTime } from '../../shared/util/time/thread-cpu-time.ts';

/** Limits work to a fraction of the time. What other threads do in the meantime does not count. */
export class TimeBudget {
  readonly #max: number;
  readonly #rate: number;
  #left: number;
  #at = monotonic();

  /** `max`: milliseconds of CPU at once. `rate`: milliseconds of CPU per second. */
  constructor(max: number, rate: number) {
    this.#max = max;
    this.#rate = rate;
    this.#left = max;
  }

  /** Does the work unless more than `1 - reserve` of the budget is used; null: it was not done. */
  spend<T>(reserve: number, work: () => T): T | null {
    const now = monotonic();
    this.#left = Math.min(this.#max, this.#left + ((now - this.#at) * this.#rate) / 1000);
    this.#at = now;
    if (this.#left <= this.#max * reserve) return null;
    const begun = threadCpuTime();
    const result = work();
    this.#left -= threadCpuTime() - begun;
    return result;
  }
}
