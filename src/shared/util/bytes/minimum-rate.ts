/** Milliseconds over which a rate is measured. */
const window = 10_000;
/** Consecutive slow windows that are too many. A single one may be a pause of a fast client. */
const maxSlowWindows = 2;

/** Detects a sender that never pauses for long and is still too slow. Needs no timer: it is called when bytes arrive. */
export class MinimumRate {
  readonly #window: number;
  readonly #bytesPerWindow: number;
  #since = 0;
  #bytes = 0;
  #slow = 0;

  /** `rate`: bytes per second; 0: any. `maxPause`: milliseconds after which other code closes a silent sender. */
  constructor(rate: number, maxPause: number) {
    this.#window = maxPause > 0 ? Math.min(window, maxPause) : window;
    this.#bytesPerWindow = (rate * this.#window) / 1000;
  }

  /** Measures from `now` (monotonic clock): when a body starts, and when reading resumes after a pause. */
  begin(now: number): void {
    this.#since = now;
    this.#bytes = 0;
    this.#slow = 0;
  }

  /** Counts received bytes; true: the sender is too slow. */
  isTooSlow(bytes: number, now: number): boolean {
    this.#bytes += bytes;
    if (now - this.#since < this.#window) return false;
    this.#slow = this.#bytes < this.#bytesPerWindow ? this.#slow + 1 : 0;
    this.#since = now;
    this.#bytes = 0;
    return this.#slow >= maxSlowWindows;
  }
}
