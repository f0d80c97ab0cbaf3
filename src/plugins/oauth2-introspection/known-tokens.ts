import { hash } from 'node:crypto';
import { BoundedCache } from '../../plugin-sdk/index.ts';

interface Remembered<T> {
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
/** Made-up tokens must not push out the good ones. */
const refusedSize = 2000;
/** Questions that wait for an answer. */
const maxPending = 256;

/** What is known of tokens, by their hashes. Questions about the same one at the same time become one. */
export class KnownTokens<T> {
  readonly #lifetimes: Lifetimes;
  readonly #active = new BoundedCache<string, Remembered<T>>(size);
  readonly #refused = new BoundedCache<string, Remembered<T>>(refusedSize);
  readonly #pending = new Map<string, Promise<T | null>>();

  constructor(lifetimes: Lifetimes) {
    this.#lifetimes = lifetimes;
  }

  /** Undefined: it is not known. */
  get(key: string): T | null | undefined {
    const found = this.#active.get(key) ?? this.#refused.get(key);
    return found !== undefined && found.until > Date.now() ? found.value : undefined;
  }

  /** `ask` gives the value and the second since the epoch at which it ends by itself, or null. */
  find(key: string, ask: () => Promise<{ value: T; expiresAt: number | null } | null>): Promise<T | null> {
    let pending = this.#pending.get(key);
    if (pending === undefined) {
      if (this.#pending.size >= maxPending)
        return Promise.reject(new Error(`${maxPending} questions wait for an answer`));
      pending = this.#ask(key, ask).finally(() => this.#pending.delete(key));
      this.#pending.set(key, pending);
    }
    return pending;
  }

  async #ask(key: string, ask: () => Promise<{ value: T; expiresAt: number | null } | null>): Promise<T | null> {
    const found = await ask();
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

/** The token itself is kept nowhere. `about`: what else the answer depends on. */
export function tokenKey(token: string, about: string): string {
  return hash('sha256', about === '' ? token : `${token}\0${about}`, 'base64url');
}
