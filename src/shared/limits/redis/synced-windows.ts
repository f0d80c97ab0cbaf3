import {
  LimiterUnavailable,
  type WindowLimiter,
  type WindowLimiterOptions,
  type WindowVerdict,
} from '../../../plugin-sdk/limits.ts';
import { acquireRedis, releaseRedis } from '../../redis/acquire-redis.ts';
import type { RedisLink } from '../../redis/redis-link.ts';
import { storedKey } from '../counter-key.ts';
import type { LocalWindows } from '../local-windows.ts';
import { windowAt } from '../window-counts.ts';
import { exchangeScript } from './exchange-script.ts';
import { asLimiterUnavailable } from './limiter-unavailable.ts';

/** Milliseconds that Redis keeps a window longer, for nodes whose clocks are behind. */
const slack = 60_000;

/** Maximum keys that one script exchanges, so that one node does not block Redis. */
const keysAtOnce = 100;

/** Maximum keys that wait for an exchange. While Redis is unavailable, counts of further keys stay on this node. */
const maxKeys = 50_000;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** What this worker has counted by key in these windows, and has not reported yet. */
interface Unreported {
  readonly spans: readonly Span[];
  readonly counted: Map<string, number>;
}

export function createSyncedWindows(
  options: WindowLimiterOptions,
  local: LocalWindows,
  /** Identifies this run of the node, for all of its workers. */
  node: string,
): SyncedWindows {
  const { redis, syncRate = -1 } = options;
  if (redis === undefined) throw new TypeError('the policy redis needs a Redis server');
  const link = acquireRedis(redis);
  return new SyncedWindows(options, {
    local,
    link,
    node,
    interval: syncRate * 1000,
    release: () => releaseRedis(redis),
  });
}

export interface SyncedWindowsParts {
  readonly local: LocalWindows;
  readonly link: RedisLink;
  readonly node: string;
  /** Milliseconds between exchanges. */
  readonly interval: number;
  readonly release: () => void;
}

/**
 * Windows counted on this node, and exchanged with the other nodes through Redis at intervals. Between two exchanges
 * each node accepts what it believes to be left. Never waits for Redis, and continues without it.
 */
export class SyncedWindows implements WindowLimiter {
  readonly #options: WindowLimiterOptions;
  readonly #parts: SyncedWindowsParts;
  readonly #local: LocalWindows;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #unreported: Unreported[] = [];
  /** Entries of all of `#unreported`: each second may begin another one while Redis is unavailable. */
  #held = 0;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(options: WindowLimiterOptions, parts: SyncedWindowsParts) {
    this.#options = options;
    this.#parts = parts;
    this.#local = parts.local;
    this.#now = options.now ?? Date.now;
    this.#timer = setInterval(() => void this.exchange(), parts.interval).unref();
  }

  take(key: string, cost = 1): WindowVerdict {
    const verdict = this.#local.take(key, cost);
    if (verdict.allowed) this.#note(key, cost);
    return verdict;
  }

  add(key: string, cost: number): WindowVerdict {
    this.#note(key, cost);
    return this.#local.add(key, cost);
  }

  peek(key: string): WindowVerdict {
    return this.#local.peek(key);
  }

  /** Reports all pending counts. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    void this.exchange().then(this.#parts.release);
  }

  /** Resolves when all earlier counts were reported, or Redis is unavailable; then they are reported the next time. */
  exchange(): Promise<void> {
    this.#running ??= this.#exchangeAll().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  #note(key: string, cost: number): void {
    const now = this.#now();
    let current = this.#unreported.at(-1);
    if (current === undefined || current.spans.some(({ start, end }) => now < start || now >= end)) {
      current = { spans: this.#options.limits.map(({ period }) => windowAt(period, now)), counted: new Map() };
      this.#unreported.push(current);
    }
    this.#addTo(current, key, cost);
  }

  #addTo({ counted }: Unreported, key: string, cost: number): void {
    const known = counted.get(key);
    if (known === undefined) {
      if (this.#held >= maxKeys) return;
      this.#held++;
    }
    counted.set(key, (known ?? 0) + cost);
  }

  async #exchangeAll(): Promise<void> {
    const unreported = this.#unreported;
    this.#unreported = [];
    this.#held = 0;
    for (const { spans, counted } of unreported) {
      const entries = [...counted];
      for (let first = 0; first < entries.length; first += keysAtOnce) {
        const some = entries.slice(first, first + keysAtOnce);
        const groups = this.#parts.link.group(some, ([key]) => this.#windowName(key, ''));
        const errors = await Promise.all(groups.map((group) => this.#exchangeOrKeep(spans, group)));
        const error = errors.find((one) => one !== null);
        if (error != null) this.#options.onUnavailable?.(error);
      }
    }
  }

  /** Null: it was exchanged. */
  async #exchangeOrKeep(
    spans: readonly Span[],
    entries: readonly (readonly [string, number])[],
  ): Promise<LimiterUnavailable | null> {
    try {
      await this.#exchangeSome(spans, entries);
      return null;
    } catch (error) {
      this.#keep({ spans, counted: new Map(entries) });
      const reported = asLimiterUnavailable(error);
      if (!(reported instanceof LimiterUnavailable)) throw error;
      return reported;
    }
  }

  /** In a cluster, the windows of a key have one hash tag. */
  #windowName(key: string, window: string): string {
    const name = storedKey(this.#options.namespace, key);
    return `${this.#parts.link.isCluster ? `{${name}}` : name}/${window}`;
  }

  async #exchangeSome(spans: readonly Span[], entries: readonly (readonly [string, number])[]): Promise<void> {
    const { limits } = this.#options;
    const now = this.#now();
    const keys: string[] = [];
    const args: (string | number)[] = [this.#parts.node];
    for (const [key, counted] of entries) {
      for (const [at, { period }] of limits.entries()) {
        const { start, end } = spans[at] ?? { start: 0, end: 0 };
        keys.push(this.#windowName(key, `${period}/${start}`));
        args.push(counted, Math.max(1, end - now) + slack);
      }
    }
    const others = (await this.#parts.link.run({
      script: exchangeScript,
      keys,
      args,
      binary: false,
    })) as readonly unknown[];
    for (const [index, [key]] of entries.entries()) {
      for (const [at, span] of spans.entries()) {
        this.#local.setRemoteCount(key, at, span.start, Number(others[index * spans.length + at]));
      }
    }
  }

  /** To be reported the next time. Counts of windows that are long over are dropped. */
  #keep(unreported: Unreported): void {
    const now = this.#now();
    if (unreported.spans.every(({ end }) => end + slack <= now)) return;
    let same = this.#unreported.find(({ spans }) =>
      spans.every(({ start }, at) => start === unreported.spans[at]?.start),
    );
    if (same === undefined) {
      if (this.#held >= maxKeys) return;
      same = { spans: unreported.spans, counted: new Map() };
      this.#unreported.unshift(same);
    }
    for (const [key, counted] of unreported.counted) this.#addTo(same, key, counted);
  }
}
