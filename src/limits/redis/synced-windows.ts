import {
  LimiterUnavailable,
  type WindowLimiter,
  type WindowLimiterOptions,
  type WindowVerdict,
} from '../../plugin-sdk/limits.ts';
import { storedKey } from '../counter-key.ts';
import type { LocalWindows } from '../local-windows.ts';
import { windowAt } from '../window-counts.ts';
import { exchangeScript } from './exchange-script.ts';
import { acquireRedis, type RedisLink, releaseRedis } from './redis-link.ts';

/** Milliseconds that Redis keeps a window longer, for nodes whose clocks are behind. */
const slack = 60_000;

/** Keys that one script exchanges, so that Redis is not held up by one node. */
const keysAtOnce = 100;

/** Keys that wait for an exchange at most; while Redis is away, what is counted under more of them stays on this node. */
const mostKeys = 50_000;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** What this worker has counted by key, while the windows were these, and has not told yet. */
interface Untold {
  readonly spans: readonly Span[];
  readonly counted: Map<string, number>;
}

export function createSyncedWindows(
  options: WindowLimiterOptions,
  local: LocalWindows,
  /** Names this run of the node, for all of its workers. */
  node: string,
): SyncedWindows {
  const { redis, syncRate = -1 } = options;
  if (redis === undefined || redis.host === null) throw new TypeError('the policy redis needs a Redis server');
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
 * Windows counted on this node, and exchanged with the other nodes through Redis from time to time. Between two exchanges
 * each node lets through what it believes to be left. Never waits for Redis, and goes on without it.
 */
export class SyncedWindows implements WindowLimiter {
  readonly #options: WindowLimiterOptions;
  readonly #parts: SyncedWindowsParts;
  readonly #local: LocalWindows;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #untold: Untold[] = [];
  /** Entries of all of `#untold`: each second may begin another one while Redis is away. */
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

  /** What has not been told yet is told. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    void this.exchange().then(this.#parts.release);
  }

  /** Resolves when what was counted before has been told, or Redis is away; it is told the next time then. */
  exchange(): Promise<void> {
    this.#running ??= this.#exchangeAll().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  #note(key: string, cost: number): void {
    const now = this.#now();
    let current = this.#untold.at(-1);
    if (current === undefined || current.spans.some(({ start, end }) => now < start || now >= end)) {
      current = { spans: this.#options.limits.map(({ period }) => windowAt(period, now)), counted: new Map() };
      this.#untold.push(current);
    }
    this.#addTo(current, key, cost);
  }

  #addTo({ counted }: Untold, key: string, cost: number): void {
    const known = counted.get(key);
    if (known === undefined) {
      if (this.#held >= mostKeys) return;
      this.#held++;
    }
    counted.set(key, (known ?? 0) + cost);
  }

  async #exchangeAll(): Promise<void> {
    const untold = this.#untold;
    this.#untold = [];
    this.#held = 0;
    for (const { spans, counted } of untold) {
      const entries = [...counted];
      for (let first = 0; first < entries.length; first += keysAtOnce) {
        const some = entries.slice(first, first + keysAtOnce);
        try {
          await this.#exchangeSome(spans, some);
        } catch (error) {
          this.#keep({ spans, counted: new Map(some) });
          if (!(error instanceof LimiterUnavailable)) throw error;
          this.#options.onAway?.(error);
        }
      }
    }
  }

  async #exchangeSome(spans: readonly Span[], entries: readonly (readonly [string, number])[]): Promise<void> {
    const { namespace, limits } = this.#options;
    const now = this.#now();
    const keys: string[] = [];
    const args: (string | number)[] = [this.#parts.node];
    for (const [key, counted] of entries) {
      for (const [at, { period }] of limits.entries()) {
        const { start, end } = spans[at] ?? { start: 0, end: 0 };
        keys.push(`${storedKey(namespace, key)}/${period}/${start}`);
        args.push(counted, Math.max(1, end - now) + slack);
      }
    }
    const others = (await this.#parts.link.run(exchangeScript, keys, args)) as readonly unknown[];
    for (const [index, [key]] of entries.entries()) {
      for (const [at, span] of spans.entries()) {
        this.#local.learn(key, at, span.start, Number(others[index * spans.length + at]));
      }
    }
  }

  /** To be told the next time. What belongs to windows that are long over is let go. */
  #keep(untold: Untold): void {
    const now = this.#now();
    if (untold.spans.every(({ end }) => end + slack <= now)) return;
    let same = this.#untold.find(({ spans }) => spans.every(({ start }, at) => start === untold.spans[at]?.start));
    if (same === undefined) {
      if (this.#held >= mostKeys) return;
      same = { spans: untold.spans, counted: new Map() };
      this.#untold.unshift(same);
    }
    for (const [key, counted] of untold.counted) this.#addTo(same, key, counted);
  }
}
