import {
  LimiterUnavailable,
  type WindowLimiter,
  type WindowLimiterOptions,
  type WindowPeriod,
  type WindowVerdict,
} from '../../plugin-sdk/limits.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import { LeaseQueue, type Share } from './cluster/lease-queue.ts';
import { storedCounterKey } from './counter-key.ts';
import type { LeaseWindow, LimitHost } from './lease.ts';
import { firstFull, shareOfPrevious, verdictOf, type WindowCount, windowAt } from './window-counts.ts';

/** Milliseconds that a counter is kept longer, for nodes whose clocks are behind. */
const slack = 60_000;

/** Maximum keys that are cached as full; they are rejected without a request to the store. */
const maxFullKeys = 10_000;

/** Milliseconds after which the store is queried again all the same: an operator may have reset the counter. */
const fullLifetime = 1000;

interface FullWindow {
  readonly counts: readonly WindowCount[];
  readonly until: number;
}

/** The windows of one key at one instant. */
interface Asked {
  readonly now: number;
  readonly spans: readonly { readonly start: number; readonly end: number }[];
  readonly windows: readonly LeaseWindow[];
}

/**
 * Windows counted in the relational store, exact over all nodes: every accepted request was granted by the store. The
 * windows are those of the node's clock. With `whenUnavailable: 'local'` a node continues with local counters while the
 * store is unavailable, starting from what it accepted in the window before, and reports to the store afterwards: at
 * most `limit` pass on each node then.
 */
export function createClusterWindows(
  options: WindowLimiterOptions,
  host: Pick<LimitHost, 'lease'>,
  /** Counts on this node only, while the store is unavailable; null: rejects with a `LimiterUnavailable` instead. */
  local: WindowLimiter | null = null,
): WindowLimiter {
  const queue = new LeaseQueue((requests) => host.lease(requests));
  return new ClusterWindows(options, queue, local);
}

class ClusterWindows implements WindowLimiter {
  readonly #options: WindowLimiterOptions;
  readonly #sliding: boolean;
  readonly #now: () => number;
  readonly #queue: LeaseQueue;
  readonly #local: WindowLimiter | null;
  readonly #full = new BoundedCache<string, FullWindow>(maxFullKeys);

  constructor(options: WindowLimiterOptions, queue: LeaseQueue, local: WindowLimiter | null) {
    this.#options = options;
    this.#sliding = options.windowType === 'sliding';
    this.#now = options.now ?? Date.now;
    this.#queue = queue;
    this.#local = local;
  }

  take(key: string, cost = 1): WindowVerdict | Promise<WindowVerdict> {
    const now = this.#now();
    return this.#refusal(key, cost, now) ?? this.#take(key, cost, this.#windowsOf(key, now));
  }

  add(key: string, cost: number): Promise<WindowVerdict> {
    return this.#add(key, cost, this.#windowsOf(key, this.#now()));
  }

  async peek(key: string): Promise<WindowVerdict> {
    const asked = this.#windowsOf(key, this.#now());
    try {
      const share = await this.#queue.ask(asked.windows, 0, false);
      return this.#verdict(asked, share, firstFull(this.#options.limits, countsOf(asked.spans, share), asked.now, 1));
    } catch (error) {
      return await this.#localInstead(error).peek(key);
    }
  }

  close(): void {
    this.#queue.close();
    this.#local?.close();
  }

  async #take(key: string, cost: number, asked: Asked): Promise<WindowVerdict> {
    let share: Share;
    try {
      share = await this.#queue.ask(asked.windows, cost, false);
    } catch (error) {
      const verdict = await this.#localInstead(error).take(key, cost);
      if (verdict.allowed) this.#queue.owe(asked.windows, cost);
      return verdict;
    }
    if (share.granted) {
      await this.#local?.add(key, cost);
      return this.#verdict(asked, share, -1);
    }
    const counts = countsOf(asked.spans, share);
    this.#full.set(key, { counts, until: asked.now + fullLifetime });
    // A sliding window may have room again since the batch was built, but the rejection stands.
    return this.#verdict(asked, share, Math.max(0, firstFull(this.#options.limits, counts, asked.now, cost)));
  }

  async #add(key: string, cost: number, asked: Asked): Promise<WindowVerdict> {
    const local = await this.#local?.add(key, cost);
    try {
      return this.#verdict(asked, await this.#queue.ask(asked.windows, cost, true), -1);
    } catch (error) {
      this.#localInstead(error);
      if (local === undefined) throw error;
      this.#queue.owe(asked.windows, cost);
      return local;
    }
  }

  #localInstead(error: unknown): WindowLimiter {
    if (this.#local === null || !(error instanceof LimiterUnavailable)) throw error;
    this.#options.onUnavailable?.(error);
    return this.#local;
  }

  #verdict({ spans, now }: Asked, share: Share, violated: number): WindowVerdict {
    return verdictOf(this.#options.limits, countsOf(spans, share), now, violated);
  }

  #refusal(key: string, cost: number, now: number): WindowVerdict | null {
    const full = this.#full.get(key);
    if (full === undefined) return null;
    const { limits } = this.#options;
    const over = now >= full.until || full.counts.some((count) => now < count.start || now >= count.end);
    const violated = over ? -1 : firstFull(limits, full.counts, now, cost);
    if (violated >= 0) return verdictOf(limits, full.counts, now, violated);
    if (over) this.#full.delete(key);
    return null;
  }

  #windowsOf(key: string, now: number): Asked {
    const spans = this.#options.limits.map(({ period }) => windowAt(period, now));
    const windows = this.#options.limits.map(({ period, limit }, at): LeaseWindow => {
      const { start, end } = spans[at] ?? { start: 0, end: 0 };
      return {
        key: storedCounterKey(this.#options.namespace, period, key),
        windowStart: start,
        keepFor: end - now + slack + (this.#sliding ? end - start : 0),
        limit,
        previous: this.#sliding ? this.#previous(period, start, end, now) : null,
      };
    });
    return { now, spans, windows };
  }

  #previous(period: WindowPeriod, start: number, end: number, now: number): LeaseWindow['previous'] {
    return { windowStart: windowAt(period, start - 1).start, share: shareOfPrevious(start, end, now) };
  }
}

function countsOf(spans: Asked['spans'], { used, before }: Share): readonly WindowCount[] {
  return spans.map(({ start, end }, at) => ({ start, end, used: used[at] ?? 0, before: before[at] ?? 0 }));
}
