import { hash, randomBytes } from 'node:crypto';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import { matchesQuickly } from './check-quickly.ts';
import type { CheckResult, HashPool } from './hash-pool.ts';
import type { PasswordHash } from './password-hash.ts';

/** The owner of the password. The same object as long as the password is the same. */
export interface Account {
  readonly hash: PasswordHash;
  /** '' for an account without a consumer. */
  readonly consumerId: string;
}

export interface PasswordAttempt {
  readonly user: string;
  readonly password: Buffer;
  /** Null: there is no such user. */
  readonly account: Account | null;
  /** A costly hash to check the password against when the user has none. */
  readonly decoy: string | null;
  /** The client's group in the queue of checks. */
  readonly client: string;
}

interface Verdict {
  readonly account: Account | null;
  /** On the monotonic clock, in milliseconds. */
  readonly until: number;
}

const maxRight = 10_000;
const maxWrong = 4000;

/**
 * Checks passwords and caches the verdicts for a while: by a hash with a salt of this process, and for the current account,
 * so that no verdict outlives a change of the password.
 *
 * A wrong password costs the same time whether the user exists or not.
 */
export class PasswordChecks {
  readonly #pool: HashPool;
  readonly #ttl: number;
  readonly #salt = randomBytes(32).toString('base64');
  readonly #right = new BoundedCache<string, Verdict>(maxRight);
  /** Separate, so that a flood of wrong passwords cannot evict valid ones. */
  readonly #wrong = new BoundedCache<string, Verdict>(maxWrong);
  readonly #running = new Map<string, { readonly account: Account | null; readonly result: Promise<CheckResult> }>();

  /** `ttl`: milliseconds for which a verdict is cached; 0: not at all. */
  constructor(pool: HashPool, ttl: number) {
    this.#pool = pool;
    this.#ttl = ttl;
  }

  check(attempt: PasswordAttempt): CheckResult | Promise<CheckResult> {
    const { account, password } = attempt;
    const key = hash('sha256', `${this.#salt}${attempt.user}\0${password.toString('latin1')}`, 'base64');
    if (this.#holds(this.#right.get(key), account)) return true;
    if (this.#holds(this.#wrong.get(key), account)) return false;
    if (account !== null && isQuick(account) && matchesQuickly(password, account.hash, account.consumerId)) {
      this.#cache(key, account, true);
      return true;
    }
    // Per client: to share another client's check would mean to wait in its queue.
    const runningKey = `${key}${attempt.client}`;
    const running = this.#running.get(runningKey);
    if (running !== undefined && running.account === account) return running.result;
    const result = this.#checkSlowly(key, runningKey, attempt);
    if (result instanceof Promise) this.#running.set(runningKey, { account, result });
    return result;
  }

  #checkSlowly(
    key: string,
    runningKey: string,
    { account, password, decoy, client }: PasswordAttempt,
  ): false | Promise<CheckResult> {
    const real = account !== null && !isQuick(account) ? account.hash.text : null;
    const compared = real ?? decoy;
    if (compared === null) {
      this.#cache(key, account, false);
      return false;
    }
    return this.#pool.check(password, compared, client).then((matches) => {
      if (this.#running.get(runningKey)?.account === account) this.#running.delete(runningKey);
      if (matches === 'busy') return matches;
      const right = matches && real !== null;
      this.#cache(key, account, right);
      return right;
    });
  }

  #holds(verdict: Verdict | undefined, account: Account | null): boolean {
    return verdict !== undefined && verdict.account === account && verdict.until > performance.now();
  }

  #cache(key: string, account: Account | null, right: boolean): void {
    if (this.#ttl === 0) return;
    (right ? this.#right : this.#wrong).set(key, { account, until: performance.now() + this.#ttl });
  }
}

function isQuick({ hash: { work } }: Account): boolean {
  return work < 1;
}
