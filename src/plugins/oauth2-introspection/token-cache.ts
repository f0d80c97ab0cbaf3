import { hash } from 'node:crypto';
import { BoundedCache, FairQueue, overloaded } from '../../plugin-kit/runtime/index.ts';

interface Cached<T> {
  /** Null: the token is not active. */
  readonly value: T | null;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export interface Lifetimes {
  /** Seconds. */
  readonly ttl: number;
  /** Seconds. */
  readonly negativeTtl: number;
}

const size = 10_000;
/** Separate caches: invalid tokens must not evict active ones. */
const refusedSize = 2000;
/** Maximum concurrent requests to the endpoint; one client gets at most half of them. */
const concurrency = 128;
/** Maximum queued requests. */
const maxWaiting = 256;

/** Too many tokens of this client, or of all clients, wait for introspection. */
export class TooManyLookups extends Error {
  constructor() {
    super('too many tokens wait for introspection');
    this.name = 'TooManyLookups';
  }
}

/** Cache of introspection results, by the hashes of the tokens. Concurrent requests of a client with the same token share one call. */
export class TokenCache<T> {
  readonly #lifetimes: Lifetimes;
  readonly #active = new BoundedCache<string, Cached<T>>(size);
  readonly #refused = new BoundedCache<string, Cached<T>>(refusedSize);
  readonly #pending = new Map<string, Promise<T | null>>();

  readonly #queue: FairQueue;

  /** `maxWait`: maximum milliseconds in the queue. */
  constructor(lifetimes: Lifetimes, maxWait: number) {
    this.#lifetimes = lifetimes;
    this.#queue = new FairQueue({ concurrency, concurrencyPerGroup: concurrency / 2, maxWaiting, maxWait });
  }

  /** Undefined: not cached. */
  get(key: string): T | null | undefined {
    const found = this.#active.get(key) ?? this.#refused.get(key);
    return found !== undefined && found.until > Date.now() ? found.value : undefined;
  }

  /**
   * `fetch` returns the value and its expiry in seconds since the epoch, or null. `client`: its group, see
   * `clientGroup`. Rejects with `TooManyLookups`, or when `fetch` does.
   */
  find(
    key: string,
    client: string,
    fetch: () => Promise<{ value: T; expiresAt: number | null } | null>,
  ): Promise<T | null> {
    const pendingKey = `${key}${client}`;
    let pending = this.#pending.get(pendingKey);
    if (pending === undefined) {
      pending = this.#enqueue(key, client, fetch).finally(() => this.#pending.delete(pendingKey));
      this.#pending.set(pendingKey, pending);
    }
    return pending;
  }

  async #enqueue(
    key: string,
    client: string,
    fetch: () => Promise<{ value: T; expiresAt: number | null } | null>,
  ): Promise<T | null> {
    const found = await this.#queue.run(client, async () => {
      // Another client's request for the same token may have been answered meanwhile.
      const known = this.get(key);
      return known === undefined ? this.#fetch(key, fetch) : known;
    });
    if (found === overloaded) throw new TooManyLookups();
    return found;
  }

  async #fetch(key: string, fetch: () => Promise<{ value: T; expiresAt: number | null } | null>): Promise<T | null> {
    const found = await fetch();
    const now = Date.now();
    const { ttl, negativeTtl } = this.#lifetimes;
    if (found === null) {
      this.#active.delete(key);
      const lifetime = Math.min(ttl, negativeTtl) * 1000;
      if (lifetime > 0) this.#refused.set(key, { value: null, until: now + lifetime });
      return null;
    }
    const until = Math.min(now + ttl * 1000, (found.expiresAt ?? Number.POSITIVE_INFINITY) * 1000);
    if (until > now) this.#active.set(key, { value: found.value, until });
    return found.value;
  }
}

/** Cache key: the token itself is never stored. `about`: further input of the response. */
export function tokenKey(token: string, about: string): string {
  return hash('sha256', about === '' ? token : `${token}\0${about}`, 'base64url');
}
