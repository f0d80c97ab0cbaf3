/** Milliseconds over which a rate is measured. */
const window = 10_000;
/** Slow windows in a row that are too many: a pause of a client that goes on at full speed is fine. */
const patience = 2;

/** Whether a sender that never stops for long is too slow all the same. Costs no timer: it is asked whenever bytes come. */
export class MinimumRate {
  readonly #window: number;
  readonly #bytesPerWindow: number;
  #since = 0;
  #bytes = 0;
  #slow = 0;

  /** `rate`: bytes per second; 0: any. `longestPause`: milliseconds after which a silent sender is cut off by others. */
  constructor(rate: number, longestPause: number) {
    this.#window = longestPause > 0 ? Math.min(window, longestPause) : window;
    this.#bytesPerWindow = (rate * this.#window) / 1000;
  }

  /** Measures from `now` (monotonic clock): when a body begins, and when reading goes on after it was paused. */
  begin(now: number): void {
    this.#since = now;
    this.#bytes = 0;
    this.#slow = 0;
  }

  /** Counts bytes that came; true: the sender is too slow. */
  isTooSlow(bytes: number, now: number): boolean {
    this.#bytes += bytes;
    if (now - this.#since < this.#window) return false;
    this.#slow = this.#bytes < this.#bytesPerWindow ? this.#slow + 1 : 0;
    this.#since = now;
    this.#bytes = 0;
    return this.#slow >= patience;
  }
}
