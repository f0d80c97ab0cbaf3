import { MinimumRate } from '../../shared/util/bytes/minimum-rate.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';

/** Limits that apply to a request body while it is read; bytes, milliseconds and bytes per second. */
export interface BodyLimits {
  readonly maxBodySize: number;
  readonly bodyTimeout: number;
  readonly bodyMinRate: number;
}

/** Watches the size and the pace of one request body. */
export class BodyWatch {
  readonly #timeout: number;
  readonly #rate: MinimumRate;
  readonly #deadline: Deadline;
  #left: number;
  /** The body is a tunnel: it may pause and has no end. */
  #tunnel = false;

  /** `expired`: no byte arrived within the timeout. */
  constructor({ maxBodySize, bodyTimeout, bodyMinRate }: BodyLimits, expired: () => void) {
    this.#left = maxBodySize > 0 ? maxBodySize : Number.POSITIVE_INFINITY;
    this.#timeout = bodyTimeout;
    this.#rate = new MinimumRate(bodyMinRate, bodyTimeout);
    this.#deadline = new Deadline(expired);
  }

  limit(bytes: number): void {
    this.#left = Math.min(this.#left, bytes);
  }

  /** The length is declared, and was compared with the limits. */
  declared(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  tunnel(): void {
    this.#tunnel = true;
    this.#left = Number.POSITIVE_INFINITY;
  }

  /** The body is read from now on, or again. */
  begin(): void {
    const now = monotonic();
    this.#rate.begin(now);
    if (!this.#tunnel) this.#deadline.set(this.#timeout, now);
  }

  /** The body is not read for a while, or complete. */
  stop(): void {
    this.#deadline.clear();
  }

  /** Counts received bytes. False: they are more than allowed. */
  count(bytes: number): boolean {
    this.#left -= bytes;
    if (this.#left < 0) return false;
    if (!this.#tunnel) this.#deadline.set(this.#timeout, monotonic());
    return true;
  }

  /** The body is slower than the minimum rate. Call it after each piece. */
  tooSlow(bytes: number): boolean {
    return !this.#tunnel && this.#rate.isTooSlow(bytes, monotonic());
  }
}
