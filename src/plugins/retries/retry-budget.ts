import type { ConcurrencyLimiter, PluginTools } from '../../plugin-sdk/index.ts';
import { budgetZone } from './zones.ts';

/** More than can ever be in flight: these limiters only count. */
const unlimited = 2 ** 30;

export interface RetryBudgetOptions {
  /** Fraction of the live requests that may be retries. */
  readonly percent: number;
  /** Concurrent retries that are always allowed. */
  readonly min: number;
}

/**
 * Live requests and retries of each service, over all workers of the node. When most requests fail, retries of all of them
 * would multiply the load of a failing backend, so there are no retries beyond the budget.
 */
export class RetryBudget {
  readonly #live: ConcurrencyLimiter;
  readonly #retries: ConcurrencyLimiter;
  readonly #options: RetryBudgetOptions;

  constructor(tools: PluginTools, options: RetryBudgetOptions) {
    const limiter = (kind: string): ConcurrencyLimiter =>
      tools.limits.concurrency({
        namespace: `retries:${kind}:${tools.instanceId}`,
        limit: unlimited,
        zone: budgetZone,
      });
    this.#live = limiter('live');
    this.#retries = limiter('retry');
    this.#options = options;
  }

  /** A request begins; call `leave` when it ends. False: there is no room to count it. */
  enter(service: string): boolean {
    return this.#live.acquire(service) > 0;
  }

  leave(service: string): void {
    this.#live.release(service);
  }

  /** Takes a slot for a retry; call `release` when its attempt ends. False: the budget is exhausted. */
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
    // Without the slot that was taken only for the check.
    return live - 1;
  }
}
