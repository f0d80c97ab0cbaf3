import { hash, randomBytes } from 'node:crypto';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';

interface Verified {
  readonly username: string;
  /** On the monotonic clock, in milliseconds. */
  readonly until: number;
}

/**
 * Cache of logins that the directory has confirmed, bounded in time and number. It contains hashes with a random salt, never
 * passwords. Refused logins are not cached: a fixed account works at once.
 */
export class VerifiedLogins {
  readonly #ttl: number;
  readonly #salt = randomBytes(32).toString('base64');
  readonly #logins = new BoundedCache<string, Verified>(10_000);

  /** `ttl`: milliseconds; 0: no caching. */
  constructor(ttl: number) {
    this.#ttl = ttl;
  }

  /** Cache key of a user name and password. */
  keyOf(credentials: string): string {
    return hash('sha256', this.#salt + credentials, 'base64');
  }

  /** The user name, or null when the login is not known to be valid. */
  usernameOf(key: string): string | null {
    const verified = this.#logins.get(key);
    if (verified === undefined) return null;
    if (verified.until > performance.now()) return verified.username;
    this.#logins.delete(key);
    return null;
  }

  add(key: string, username: string): void {
    if (this.#ttl > 0) this.#logins.set(key, { username, until: performance.now() + this.#ttl });
  }
}
