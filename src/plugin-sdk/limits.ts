import type { CircuitOptions, Circuits } from './circuits.ts';
/** Calendar periods in UTC, as Kong counts them. */
export type WindowPeriod = 'second' | 'minute' | 'hour' | 'day' | 'month' | 'year';

export interface WindowLimit {
  readonly period: WindowPeriod;
  /** How much may be taken in one period. */
  readonly limit: number;
}

/** A Redis server, with Kong's field names. */
export interface RedisOptions {
  readonly host: string | null;
  readonly port: number;
  /** Milliseconds for connecting, and for each command. */
  readonly timeout: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  readonly ssl: boolean;
  readonly ssl_verify: boolean;
  readonly server_name: string | null;
}

type Unset<T> = { readonly [K in keyof T]: T[K] | null };

/** What a configuration says of a Redis server, with Kong's defaults for what was set to null. */
export function redisOptions(given: Unset<RedisOptions>): RedisOptions {
  return {
    host: given.host,
    port: given.port ?? 6379,
    timeout: given.timeout ?? 2000,
    username: given.username,
    password: given.password,
    database: given.database ?? 0,
    ssl: given.ssl ?? false,
    ssl_verify: given.ssl_verify ?? false,
    server_name: given.server_name,
  };
}

export interface WindowLimiterOptions {
  /** Goes into every key, so that two plugins or instances do not share counters. */
  readonly namespace: string;
  readonly limits: readonly WindowLimit[];
  /**
   * `local`: exact over all workers of this node. `cluster`: exact over all nodes, by quotas leased from the relational
   * store. `redis`: exact over all nodes, one script for each request.
   */
  readonly policy: 'local' | 'cluster' | 'redis';
  /** `sliding`: the part of the previous period that is still in sight counts too. Default: fixed. */
  readonly windowType?: 'fixed' | 'sliding';
  /** Name of the zone, among those that the plugin declares, that holds the counters of this node. */
  readonly zone: string;
  readonly redis?: RedisOptions;
  /**
   * Of the policy `cluster`, while the store does not answer. `reject`: a `LimiterUnavailable`. `local`: this node goes on by
   * what it has let through itself, and the store is told afterwards; then at most `limit` pass on each node. Default reject.
   */
  readonly whenAway?: 'reject' | 'local';
  /** Told of each request that is judged without the server instead of being rejected, and of each exchange that fails. */
  readonly onAway?: (error: LimiterUnavailable) => void;
  /** Seconds between exchanges with Redis; -1: with each request. Default -1. */
  readonly syncRate?: number;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number;
}

/** One window as it is after the request. In the order of the limiter's `limits`. */
export interface WindowState {
  readonly period: WindowPeriod;
  readonly limit: number;
  /** Never negative. */
  readonly remaining: number;
  /** Seconds until the window has room again: for a fixed window until its end, at least 1. */
  readonly reset: number;
}

export interface WindowVerdict {
  readonly allowed: boolean;
  /** Index of the first window that is used up; -1 when allowed. */
  readonly violated: number;
  readonly windows: readonly WindowState[];
}

/**
 * Counts what is taken under a key in each of some windows. Rejects with a `LimiterUnavailable` when the policy's server
 * does not answer. The answer comes without a promise where nobody else is asked.
 */
export interface WindowLimiter {
  /** Takes `cost` from all windows, or from none when one of them has not that much left. One atomic step. */
  take(key: string, cost?: number): WindowVerdict | Promise<WindowVerdict>;
  /** Counts `cost` even beyond the limit: of what has happened already. */
  add(key: string, cost: number): WindowVerdict | Promise<WindowVerdict>;
  /** How things stand; takes nothing. `allowed` tells whether 1 could be taken. */
  peek(key: string): WindowVerdict | Promise<WindowVerdict>;
  close(): void;
}

export class LimiterUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LimiterUnavailable';
  }
}

export interface BucketLimiterOptions {
  readonly namespace: string;
  /** Requests per second; a fraction for rates per minute. */
  readonly rate: number;
  /** Requests beyond the rate that are let through, sooner or later. */
  readonly burst: number;
  readonly zone: string;
  readonly now?: () => number;
}

/** nginx's leaky bucket over a shared zone, exact over all workers of this node. */
export interface BucketLimiter {
  /** Milliseconds after which the request conforms to the rate (0: at once), or -1: beyond the burst, reject. */
  take(key: string): number;
  /** Requests beyond the rate that the key has now, with a fraction. Takes nothing. */
  excess(key: string): number;
}

export interface ConcurrencyLimiterOptions {
  readonly namespace: string;
  readonly limit: number;
  readonly zone: string;
}

/** Counts what is in flight, exact over all workers of this node. What a dead worker held is given back. */
export interface ConcurrencyLimiter {
  /** Number in flight with this one, or -1 when that would be more than the limit. */
  acquire(key: string): number;
  release(key: string): void;
}

/**
 * What is kept in a zone. `table`: counters of limiters and circuits. `store`: a `sharedStore`. `counts`: `labelledCounts`. `series`:
 * labelled numbers (`seriesZone`). `raw`: the plugin's own; the gateway neither reads nor writes it, and the plugin sees to it that a worker that ends amid a write does no
 * harm.
 */
export type ZoneKind = 'table' | 'store' | 'counts' | 'series' | 'raw';

/** Shared memory that a plugin asks for. What one plugin asks for by the same name and size is the same memory. */
export interface ZoneRequest {
  readonly name: string;
  /** At least 4096; of a store at least 262144. */
  readonly bytes: number;
  /** Bytes more for each worker of the node but the first. Default: 0. */
  readonly perWorker?: number;
  /** Default: `table`. */
  readonly kind?: ZoneKind;
}

/** Limiters, bound to the zones that the plugin declared. */
export interface LimitTools {
  windows(options: WindowLimiterOptions): WindowLimiter;
  bucket(options: BucketLimiterOptions): BucketLimiter;
  concurrency(options: ConcurrencyLimiterOptions): ConcurrencyLimiter;
  circuits(options: CircuitOptions): Circuits;
}
