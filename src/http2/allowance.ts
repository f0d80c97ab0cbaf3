/** What a client may do for nothing: so much at once, and so much a second from then on. */
export class Allowance {
  readonly #burst: number;
  readonly #rate: number;
  #left: number;
  #at: number;

  /** `rate`: for each second. `now`: milliseconds on the monotonic clock. */
  constructor(burst: number, rate: number, now: number) {
    this.#burst = burst;
    this.#rate = rate;
    this.#left = burst;
    this.#at = now;
  }

  /** False: the client has used up what it may. */
  take(now: number): boolean {
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) * this.#rate) / 1000);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  /** Work that carries something allows for more of what carries nothing. */
  credit(): void {
    if (this.#left < this.#burst) this.#left++;
  }
}
