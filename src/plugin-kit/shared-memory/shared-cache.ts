import { hash } from 'node:crypto';
import type { SharedStore } from '../../plugin-sdk/shared-store.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';
import type { ZoneRequest } from '../../plugin-sdk/zones.ts';
import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { clientGroup, FairQueue, overloaded } from '../../shared/util/time/fair-queue.ts';
import { type CacheEntry, decodeEntry, encodeEntry, frozen } from './cache-entry.ts';
import { sharedStore } from './shared-store.ts';

/** For `sharedCache`. All times are in milliseconds. */
export interface SharedCacheOptions {
  /** Name of a zone of `sharedCacheZone`. */
  readonly zone: string;
  /** How long a value is used. */
  readonly ttl: number;
  /** How long it is remembered that a load found nothing. Default: `ttl`. */
  readonly negativeTtl?: number;
  /** How long after `ttl` a value is still used while loads fail. Default: 0. */
  readonly staleTtl?: number;
  /** How long after a failed load there is no other one for its key. Default: 1000. */
  readonly errorTtl?: number;
  /** Maximum time of one load. */
  readonly timeout: number;
  /**
   * What the values depend on in addition to their keys, such as the URL of the server: values of another version are not found, so a
   * changed configuration does not use old ones. Default: ''.
   */
  readonly version?: string;
  /** Maximum size of a value as JSON, in bytes; a larger one is returned, and not kept. Default: 65,536. */
  readonly maxBytes?: number;
  /** Loads of this worker at the same time. Default: 32. */
  readonly concurrency?: number;
  /** Loads of this worker that wait for others. Default: 1000. */
  readonly maxWaiting?: number;
  /** Values that this worker keeps ready, so that they need not be read from the zone. Default: 1000. */
  readonly localEntries?: number;
  /** Clock in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Loads a value; null: there is none. `signal` is aborted after the timeout. */
export type CacheLoader<T> = (signal: AbortSignal) => Promise<T | null>;

/** Values that all workers of the node share, each loaded once for all requests that want it. */
export interface SharedCache<T> {
  /**
   * The value of a key; without a promise if this worker or another one has it. Otherwise one request of the node calls `load`, and
   * the others wait for it. The value is frozen JSON.
   *
   * The load is not for one client: call backends with `detached: true`, or it ends with the first client that disconnects.
   *
   * Rejects with a `CacheLoadFailed`, after three times `timeout` at most: for its turn, for another worker, for its own load. While an old value may still be used (`staleTtl`), the result is that value.
   *
   * @param key Of any length and content. Only its digest is stored, so it may be a secret.
   * @param client IP address of the client that chose the key. Loads of clients are scheduled fairly: pass it wherever clients
   * can choose keys.
   */
  get(key: string, load: CacheLoader<T>, client?: string): T | null | Promise<T | null>;
  /** Forgets a key, for all workers. A load that is under way still stores its result. */
  delete(key: string): void;
}

/** Why there is no value: the load failed (`cause` says why, if it was of this request), took too long, or too many wait. */
export class CacheLoadFailed extends Error {
  readonly reason: 'failed' | 'timeout' | 'overloaded';

  constructor(reason: CacheLoadFailed['reason'], options?: ErrorOptions) {
    super(`a value could not be loaded: ${reason}`, options);
    this.name = 'CacheLoadFailed';
    this.reason = reason;
  }
}

/**
 * The zone to declare for a `sharedCache`. It never grows: what was not used for the longest time makes room. At least 262,144 bytes.
 *
 * @example
 * zones: () => [sharedCacheZone('users', 4 * 1024 * 1024)],
 */
export function sharedCacheZone(name: string, bytes: number): ZoneRequest {
  return { name, bytes, kind: 'store' };
}

/**
 * Opens a cache in a zone. Call it in `setup`. Instances that share a zone do not share values.
 *
 * @typeParam T What `JSON.stringify` accepts.
 *
 * @example
 * const users = sharedCache<User>(tools, { zone: 'users', ttl: 60_000, staleTtl: 600_000, timeout: 2000, version: config.url });
 * const user = await users.get(id, (signal) => loadUser(id, signal), context.client.ip);
 */
export function sharedCache<T>(
  tools: Pick<PluginTools, 'zone' | 'node' | 'instanceId'>,
  options: SharedCacheOptions,
): SharedCache<T> {
  const { now = Date.now, version = '' } = options;
  const store = sharedStore(tools.zone(options.zone), { worker: tools.node.worker, now });
  const cache = new Cache(store, { ...options, now }, JSON.stringify([tools.instanceId, version]));
  return {
    get: (key, load, client = '') => cache.get(key, load, client) as T | null | Promise<T | null>,
    delete: (key) => cache.delete(key),
  };
}

class Cache {
  readonly #store: SharedStore;
  readonly #options: Required<Omit<SharedCacheOptions, 'version' | 'zone'>>;
  readonly #prefix: string;
  readonly #local: BoundedCache<string, CacheEntry>;
  readonly #queue: FairQueue;
  readonly #loading = new Map<string, Promise<unknown>>();

  constructor(store: SharedStore, options: SharedCacheOptions & { readonly now: () => number }, prefix: string) {
    const defaults = { negativeTtl: options.ttl, staleTtl: 0, errorTtl: 1000, maxBytes: 65_536 };
    const bounds = { concurrency: 32, maxWaiting: 1000, localEntries: 1000 };
    this.#store = store;
    this.#options = { ...defaults, ...bounds, ...options };
    this.#prefix = prefix;
    this.#local = new BoundedCache(this.#options.localEntries);
    const { concurrency, maxWaiting, timeout } = this.#options;
    this.#queue = new FairQueue({ concurrency, maxWaiting, maxWait: timeout });
  }

  get(key: string, load: CacheLoader<unknown>, client: string): unknown {
    const id = this.#idOf(key);
    const entry = this.#entry(id);
    if (entry !== null && this.#options.now() < entry.freshUntil) return entry.value;
    const known = this.#loading.get(id);
    if (known !== undefined) return known;
    const loading = this.#load(id, load, client, entry).finally(() => this.#loading.delete(id));
    this.#loading.set(id, loading);
    return loading;
  }

  delete(key: string): void {
    const id = this.#idOf(key);
    this.#local.delete(id);
    this.#store.delete(id);
    this.#store.delete(failureOf(id));
  }

  #idOf(key: string): string {
    return hash('sha256', `${this.#prefix}${key}`, 'base64url');
  }

  /** Also one that is not fresh any more. */
  #entry(id: string): CacheEntry | null {
    const local = this.#local.get(id);
    if (local !== undefined && this.#store.isCurrent(local.version)) return local;
    const stored = this.#store.get(id);
    const entry = stored === null ? null : decodeEntry(stored);
    if (entry === null) this.#local.delete(id);
    else this.#local.set(id, entry);
    return entry;
  }

  #fresh(id: string): CacheEntry | null {
    const entry = this.#entry(id);
    return entry !== null && this.#options.now() < entry.freshUntil ? entry : null;
  }

  async #load(id: string, load: CacheLoader<unknown>, client: string, old: CacheEntry | null): Promise<unknown> {
    try {
      if (this.#store.get(failureOf(id)) !== null) throw new CacheLoadFailed('failed');
      const loaded = await this.#queue.run(clientGroup(client), () => this.#together(id, load));
      if (loaded === overloaded) throw new CacheLoadFailed('overloaded');
      return loaded;
    } catch (error) {
      if (old !== null && this.#options.now() < old.freshUntil + this.#staleTtl(old)) return old.value;
      throw error;
    }
  }

  #staleTtl({ value }: CacheEntry): number {
    return value === null ? 0 : this.#options.staleTtl;
  }

  /** One worker loads, and others wait for it. If it ends, or its value found no room, each loads for itself. */
  async #together(id: string, load: CacheLoader<unknown>): Promise<unknown> {
    const { timeout } = this.#options;
    const wait = this.#store.board(id, timeout + landingTime);
    try {
      if (wait !== null) await wait(timeout);
      const entry = this.#fresh(id);
      if (entry !== null) return entry.value;
      if (wait !== null && this.#store.get(failureOf(id)) !== null) throw new CacheLoadFailed('failed');
      return await this.#loadNow(id, load);
    } finally {
      if (wait === null) this.#store.land(id);
    }
  }

  async #loadNow(id: string, load: CacheLoader<unknown>): Promise<unknown> {
    const { ttl, negativeTtl, errorTtl, timeout, maxBytes, now } = this.#options;
    try {
      const value = (await within(load, timeout)) ?? null;
      const freshUntil = now() + (value === null ? negativeTtl : ttl);
      const bytes = encodeEntry(value, freshUntil, maxBytes);
      if (bytes === null) return frozen(structuredClone(value));
      const expires = freshUntil + (value === null ? 0 : this.#options.staleTtl);
      if (!this.#store.put(id, { ...bytes, expires })) return frozen(JSON.parse(bytes.body.toString() || 'null'));
      return this.#entry(id)?.value ?? frozen(JSON.parse(bytes.body.toString() || 'null'));
    } catch (error) {
      if (errorTtl > 0) this.#store.put(failureOf(id), { meta: noBytes, body: noBytes, expires: now() + errorTtl });
      throw error;
    }
  }
}

const noBytes = new Uint8Array(0);
/** Milliseconds for the leader to store what it has loaded. */
const landingTime = 100;

/** Key of the entry that says that the last load failed. */
function failureOf(id: string): string {
  return `${id}!`;
}

async function within(load: CacheLoader<unknown>, timeout: number): Promise<unknown> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new CacheLoadFailed('timeout'));
    controller.abort(new CacheLoadFailed('timeout'));
  }, timeout);
  try {
    return await Promise.race([load(controller.signal), late.promise]);
  } catch (error) {
    throw error instanceof CacheLoadFailed ? error : new CacheLoadFailed('failed', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
