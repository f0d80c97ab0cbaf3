import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { monotonic } from '../../shared/util/time/clock.ts';

/** Requests that one consumer may send at once, and milliseconds until it may send another one. */
const burst = 60;
const interval = 500;
const maxConsumers = 10_000;

/** Bounds how fast one consumer can make the control plane work. */
export class RequestAllowance {
  /** The time at which all requests of a consumer are paid for. */
  readonly #paid = new BoundedCache<string, number>(maxConsumers);

  /** Seconds after which the consumer may try again; 0: the request is allowed. */
  take(consumer: string): number {
    const now = monotonic();
    const paid = Math.max(this.#paid.get(consumer) ?? 0, now);
    const wait = paid + interval - now - burst * interval;
    if (wait > 0) return Math.ceil(wait / 1000);
    this.#paid.set(consumer, paid + interval);
    return 0;
  }
}
