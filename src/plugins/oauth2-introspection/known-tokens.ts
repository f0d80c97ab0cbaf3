import { hash } from 'node:crypto';
import { BoundedCache, FairQueue, overloaded } from '../../plugin-sdk/index.ts';

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
/** Maximum concurrent requests to the endpoint; one client gets at most half of them. */
const concurrency = 128;
/** Maximum queued requests. */
const maxWaiting = 256;

/** Too many tokens of this client, or of all clients, are waiting for an answer. */
export class TooManyQuestions extends Error {
  constructor() {
    super('too many tokens wait for introspection');
    this.name = 'TooManyQuestions';
  }
}

/** Verdicts on tokens, by their hashes. A client's requests about the same token at the same time become one. */
export class KnownTokens<T> {
  readonly #lifetimes: Lifetimes;
  readonly #active = new BoundedCache<string, Remembered<T>>(size);
  readonly #refused = new BoundedCache<string, Remembered<T>>(refusedSize);
  readonly #pending = new Map<string, Promise<T | null>>();

  readonly #queue: FairQueue;

  /** `maxWait`: milliseconds that a request may wait for its turn. */
  constructor(lifetimes: Lifetimes, maxWait: number) {
    this.#lifetimes = lifetimes;
    this.#queue = new FairQueue({ concurrency, concurrencyPerGroup: concurrency / 2, maxWaiting, maxWait });
  }

  /** Undefined: it is not known. */
  get(key: string): T | null | undefined {
    const found = this.#active.get(key) ?? this.#refused.get(key);
    return found !== undefined && found.until > Date.now() ? found.value : undefined;
  }

  /**
   * `ask` gives the value and the second since the epoch at which it ends by itself, or null. `client`: its group, see
   * `clientGroup`. Rejects with `TooManyQuestions`, or when `ask` does.
   */
  find(
    key: string,
    client: string,
    ask: () => Promise<{ value: T; expiresAt: number | null } | null>,
  ): Promise<T | null> {
    const pendingKey = `${key}${client}`;
    let pending = this.#pending.get(pendingKey);
    if (pending === undefined) {
      pending = this.#inTurn(key, client, ask).finally(() => this.#pending.delete(pendingKey));
      this.#pending.set(pendingKey, pending);
    }
    return pending;
  }

  async #inTurn(
    key: string,
    client: string,
    ask: () => Promise<{ value: T; expiresAt: number | null } | null>,
  ): Promise<T | null> {
    const found = await this.#queue.run(client, async () => {
      // Another client's request for the same token may have been answered meanwhile.
      const known = this.get(key);
      return known === undefined ? this.#ask(key, ask) : known;
    });
    if (found === overloaded) throw new TooManyQuestions();
    return found;
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
