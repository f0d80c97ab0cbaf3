import { hash } from 'node:crypto';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { EntityRow, IdentityDetails } from '../../plugin-sdk/index.ts';
import type { Claims } from './parse-token.ts';

/** A token with a valid signature, and the key that verified it. */
export interface Verified {
  readonly claims: Claims;
  readonly details: Partial<IdentityDetails>;
  /** Seconds since the epoch after which it is checked again. */
  readonly expiresAt: number;
  /** Identifies the credential or client. */
  readonly name: string;
  /** The credential, which must be unchanged; null with a key set. */
  readonly credential: EntityRow | null;
  /** Generation of the key set. */
  readonly generation: number;
}

/** Cache key of a token: its hash and its length. */
export interface TokenKey {
  readonly hash: string;
  readonly length: number;
}

interface Entry {
  readonly verified: Verified;
  readonly length: number;
}

/** Longer tokens are not cached. */
const longest = 8192;

/**
 * Verified tokens, by hash, so that valid tokens cannot be read from memory. Bounded in number and in characters: the claims
 * of a token take up to five times its length. Beyond either bound, older ones are evicted.
 */
export class VerifiedTokens {
  readonly #maxCharacters: number;
  readonly #entries: BoundedCache<string, Entry>;
  #characters = 0;

  constructor(most = 10_000, maxCharacters = 8 * 1_048_576) {
    this.#maxCharacters = maxCharacters;
    this.#entries = new BoundedCache(most, (_hash, { length }) => {
      this.#characters -= length;
    });
  }

  /** Total characters of the cached tokens. */
  get characters(): number {
    return this.#characters;
  }

  /** Null: the token is too long to be cached. */
  keyOf(token: string): TokenKey | null {
    return token.length <= longest ? { hash: hash('sha256', token, 'base64'), length: token.length } : null;
  }

  get(key: TokenKey): Verified | undefined {
    return this.#entries.get(key.hash)?.verified;
  }

  set({ hash, length }: TokenKey, verified: Verified): void {
    this.#entries.delete(hash);
    if (this.#characters + length > this.#maxCharacters) this.#entries.clear();
    this.#characters += length;
    this.#entries.set(hash, { verified, length });
  }
}
