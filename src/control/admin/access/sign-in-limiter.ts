import { BoundedCache } from '../../../shared/util/bounded-cache.ts';
import { addressGroup } from '../../../shared/util/net/address-group.ts';
import { monotonic } from '../../../shared/util/time/clock.ts';

/** Wrong tokens that one client address may send at once, and milliseconds until it may send another one. */
const burst = 10;
const interval = 6_000;
/** Addresses and tokens that are remembered; the least recently used are evicted. */
const maxAddresses = 10_000;
const maxTokens = 1_000;
/** An IPv6 client can use any address of its network. */
const ipv6Prefix = 64;

/** One attempt to sign in that may be made. */
export interface SignInAttempt {
  /** Call it once, when the token was checked; null: it could not be. */
  done(accepted: boolean | null): void;
}

export interface SignInLimiterOptions {
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
}

/**
 * Limits how fast one client address can guess tokens. An attempt is charged before the token is checked, so that parallel guesses count,
 * and refunded when it was right. A token that was right before is never delayed: otherwise a wrong one in a script on the same machine
 * would lock out its operator. While an address is over its limit, a right token gets the same answer as a wrong one.
 */
export class SignInLimiter {
  readonly #now: () => number;
  /** By address: the time at which all its attempts are paid for. */
  readonly #paid = new BoundedCache<string, number>(maxAddresses);
  /** Hashes of tokens that were accepted. */
  readonly #accepted = new BoundedCache<string, true>(maxTokens);
  /** Hashes being checked, by address: several requests with one token at once are one guess. */
  readonly #pending = new Map<string, number>();

  constructor({ now = monotonic }: SignInLimiterOptions = {}) {
    this.#now = now;
  }

  /** `hash`: of what the client sent. A number: the seconds after which the address may try again. */
  begin(address: string, hash: string): SignInAttempt | number {
    const client = addressGroup(address, ipv6Prefix);
    const key = `${client} ${hash}`;
    const pending = this.#pending.get(key) ?? 0;
    const free = pending > 0 || this.#accepted.get(hash) === true;
    if (!free) {
      const wait = this.#charge(client);
      if (wait > 0) return Math.ceil(wait / 1000);
    }
    this.#pending.set(key, pending + 1);
    return {
      done: (accepted) => {
        const left = (this.#pending.get(key) ?? 1) - 1;
        if (left === 0) this.#pending.delete(key);
        else this.#pending.set(key, left);
        if (accepted) {
          this.#accepted.set(hash, true);
          if (!free) this.#paid.set(client, (this.#paid.get(client) ?? 0) - interval);
        } else if (accepted === false) this.#accepted.delete(hash);
      },
    };
  }

  /** Milliseconds to wait; 0: the attempt was charged. */
  #charge(client: string): number {
    const now = this.#now();
    const paid = Math.max(this.#paid.get(client) ?? 0, now);
    const wait = paid + interval - now - burst * interval;
    if (wait > 0) return wait;
    this.#paid.set(client, paid + interval);
    return 0;
  }
}
