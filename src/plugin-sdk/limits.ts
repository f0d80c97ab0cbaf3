import type { CircuitOptions, Circuits } from './circuits.ts';
import type { RedisOptions } from './redis-options.ts';

/** A calendar period in UTC, as Kong counts. */
export type WindowPeriod = 'second' | 'minute' | 'hour' | 'day' | 'month' | 'year';

/** A limit of one period. */
export interface WindowLimit {
  readonly period: WindowPeriod;
  /** Maximum per period. */
  readonly limit: number;
}

/** For `tools.limits.windows`. */
export interface WindowLimiterOptions {
  /** Part of every key, so that plugins and instances do not share counters. */
  readonly namespace: string;
  readonly limits: readonly WindowLimit[];
  /**
   * - `local`: exact over all workers of this node
   * - `cluster`: exact over all nodes, by units that nodes lease from the store
   * - `redis`: exact over all nodes, with one script per request
   */
  readonly policy: 'local' | 'cluster' | 'redis';
  /** `sliding`: the part of the previous period that still lies within one period counts, too. Default: `fixed`. */
  readonly windowType?: 'fixed' | 'sliding';
  /** Name of a declared zone of the kind `table`. */
  readonly zone: string;
  /** Required by the policy `redis`. */
  readonly redis?: RedisOptions;
  /**
   * For the policy `cluster`. True: nothing is leased ahead, so that the counters in the store are what was accepted, and each request
   * waits for the store. Default: false, which makes requests of a key wait only while they are few.
   */
  readonly exact?: boolean;
  /**
   * For the policy `cluster` while the store is unavailable and what this node has leased is used up. `reject`: calls reject with a
   * `LimiterUnavailable`. `local`: this node accepts its share, which is what was left of each window when the store last answered,
   * divided by the number of nodes, and at least 1; it reports to the store afterwards. Default: `reject`.
   */
  readonly whenUnavailable?: 'reject' | 'local';
  /** Called for each request that is decided without the server instead of being rejected, and for each failed exchange. */
  readonly onUnavailable?: (error: LimiterUnavailable) => void;
  /** Seconds between exchanges with Redis; -1: with each request. Default: -1. */
  readonly syncRate?: number;
  /** Clock in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** One window after the request, in the order of the limiter's `limits`. */
export interface WindowState {
  readonly period: WindowPeriod;
  readonly limit: number;
  /** Never negative. */
  readonly remaining: number;
  /** Seconds until the window has room again; for a fixed window until its end, at least 1. */
  readonly reset: number;
}

/** The decision of a `WindowLimiter`. */
export interface WindowVerdict {
  readonly allowed: boolean;
  /** Index of the first window that is used up; -1 if allowed. */
  readonly violated: number;
  readonly windows: readonly WindowState[];
}

/**
 * Counts per key in one or more windows. Decisions of this node alone are returned without a promise. Rejects with a
 * `LimiterUnavailable` while the server of the policy does not answer.
 *
 * @example
 * const limiter = tools.limits.windows({
 *   namespace: `hello:${tools.instanceId}`,
 *   limits: [{ period: 'minute', limit: 60 }],
 *   policy: 'local',
 *   zone: 'greetings', // declared in zones.ts
 * });
 * const { allowed, windows } = await limiter.take(context.client.ip);
 * if (!allowed) return refuse(429, 'Too many greetings', { 'Retry-After': String(windows[0]?.reset) });
 */
export interface WindowLimiter {
  /** Takes `cost` from all windows, or from none if one of them has too little left. Atomic. Default: 1. */
  take(key: string, cost?: number): WindowVerdict | Promise<WindowVerdict>;
  /** Counts `cost` even beyond the limit, for what has already happened. */
  add(key: string, cost: number): WindowVerdict | Promise<WindowVerdict>;
  /** Takes nothing. `allowed`: `take` of 1 would succeed. */
  peek(key: string): WindowVerdict | Promise<WindowVerdict>;
  /** Closes the connection to Redis, if there is one. Call it in `dispose`. */
  close(): void;
}

/** The server of a limiter, Redis or the store, does not answer. */
export class LimiterUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LimiterUnavailable';
  }
}

/** For `tools.limits.bucket`. */
export interface BucketLimiterOptions {
  /** Part of every key. */
  readonly namespace: string;
  /** Requests per second; a fraction for a rate per minute. */
  readonly rate: number;
  /** Requests beyond the rate that are accepted: delayed or at once, as the plugin decides. */
  readonly burst: number;
  /** Name of a declared zone of the kind `table`. */
  readonly zone: string;
  /** Clock in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * The leaky bucket of nginx's `limit_req`, exact over all workers of this node.
 *
 * @example
 * const bucket = tools.limits.bucket({ namespace: tools.instanceId, rate: 10, burst: 20, zone: 'buckets' });
 * const wait = bucket.take(context.client.ip);
 * if (wait < 0) return refuse(429, 'Too many requests');
 */
export interface BucketLimiter {
  /** Milliseconds after which the request conforms to the rate (0: at once); -1: beyond the burst, refuse it. */
  take(key: string): number;
  /** Requests beyond the rate that the key has now, with a fraction. Takes nothing. */
  excess(key: string): number;
}

/** For `tools.limits.concurrency`. */
export interface ConcurrencyLimiterOptions {
  /** Part of every key. */
  readonly namespace: string;
  /** Maximum number of requests at the same time. */
  readonly limit: number;
  /** Name of a declared zone of the kind `table`. */
  readonly zone: string;
}

/**
 * Counts requests in flight, exact over all workers of this node. Those of a worker that ends are released.
 *
 * @example
 * if (limiter.acquire(key) < 0) return refuse(503, 'Too many requests at the same time'); // in access
 * context.set(acquired, key);
 * limiter.release(key); // in log, for each key that was acquired
 */
export interface ConcurrencyLimiter {
  /** The number in flight with this one; -1: over the limit, nothing was acquired. Each success needs one `release`. */
  acquire(key: string): number;
  release(key: string): void;
}

/** Makes limiters over zones that the plugin declares. Throws an Error for a zone that it does not. */
export interface LimitTools {
  /** @throws TypeError for the policy `redis` without a host. */
  windows(options: WindowLimiterOptions): WindowLimiter;
  bucket(options: BucketLimiterOptions): BucketLimiter;
  concurrency(options: ConcurrencyLimiterOptions): ConcurrencyLimiter;
  circuits(options: CircuitOptions): Circuits;
}
