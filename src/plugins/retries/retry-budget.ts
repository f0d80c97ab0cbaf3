import type { ConcurrencyLimiter, PluginTools } from '../../plugin-sdk/index.ts';

/** More than can ever be in flight: these limiters only count. */
const unlimited = 2 ** 30;

export interface RetryBudgetOptions {
  /** Share of the live requests that may be retries. */
  readonly percent: number;
  /** Retries at the same time that are always allowed. */
  readonly min: number;
}

/**
 * Live requests and retries of each service, over all workers of the node. When most requests fail, retries for all of them
 * would multiply the load of a backend that is in trouble already; beyond the budget they are not made.
 */
export class RetryBudget {
  readonly #live: ConcurrencyLimiter;
  readonly #retries: ConcurrencyLimiter;
  readonly #options: RetryBudgetOptions;

  constructor(tools: PluginTools, options: RetryBudgetOptions) {
    const limiter = (kind: string): ConcurrencyLimiter =>
      tools.limits.concurrency({ namespace: `retries:${kind}:${tools.instanceId}`, limit: unlimited, zone: 'budget' });
    this.#live = limiter('live');
    this.#retries = limiter('retry');
    this.#options = options;
  }

  /** A request begins; `leave` when it is over. False: there is no room to count it. */
  enter(service: string): boolean {
    return this.#live.acquire(service) > 0;
  }

  leave(service: string): void {
    this.#live.release(service);
  }

  /** Takes a place for a retry; `release` when its attempt is over. False: the budget is spent. */
  acquire(service: string): boolean {
    const retries = this.#retries.acquire(service);
    if (retries < 0) return false;
    const { percent, min } = this.#options;
    if (retries <= Math.max(min, Math.floor((this.#liveRequests(service) * percent) / 100))) return true;
    this.#retries.release(service);
    return false;
  }

  release(service: string): void {
    this.#retries.release(service);
  }

  #liveRequests(service: string): number {
    const live = this.#live.acquire(service);
    if (live < 0) return 0;
    this.#live.release(service);
    // Without the place that was only taken to look.
    return live - 1;
  }
}
