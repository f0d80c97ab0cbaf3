/** A token bucket: a burst at once, and a rate per second from then on. */
export class TokenBucket {
  readonly #burst: number;
  readonly #rate: number;
  #left: number;
  #at: number;

  /** `rate`: per second. `now`: milliseconds on the monotonic clock. */
  constructor(burst: number, rate: number, now: number) {
    this.#burst = burst;
    this.#rate = rate;
    this.#left = burst;
    this.#at = now;
  }

  /** False: the bucket is empty. */
  take(now: number): boolean {
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) * this.#rate) / 1000);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  /** Tokens that were taken and are not made up for, at the last `take`. */
  get spent(): number {
    return this.#burst - this.#left;
  }

  /** Useful work adds a token for messages that carry nothing. */
  credit(): void {
    if (this.#left < this.#burst) this.#left++;
  }
}
