import { hash } from 'node:crypto';
import { BoundedCache, type EntityRow, type IdentityDetails } from '../../plugin-sdk/index.ts';
import type { Claims } from './parse-token.ts';

/** A token whose signature is good, and by what that was found. */
export interface Verified {
  readonly claims: Claims;
  readonly details: Partial<IdentityDetails>;
  /** Seconds since the epoch from which on it is looked at anew. */
  readonly expiresAt: number;
  /** What names the credential or client. */
  readonly name: string;
  /** The credential, which must still be the same; null with a key set. */
  readonly credential: EntityRow | null;
  /** Generation of the key set. */
  readonly generation: number;
}

/** A token that may be remembered: its hash and its length. */
export interface TokenKey {
  readonly hash: string;
  readonly length: number;
}

interface Entry {
  readonly verified: Verified;
  readonly length: number;
}

/** Longer tokens are not remembered. */
const longest = 8192;

/**
 * The tokens that were found good, by hash, so that tokens that are still valid are not to be found in memory. Bounded in
 * number and in characters: what a token says takes up to five times its length. Beyond either, older ones go.
 */
export class VerifiedTokens {
  readonly #mostCharacters: number;
  readonly #entries: BoundedCache<string, Entry>;
  #characters = 0;

  constructor(most = 10_000, mostCharacters = 8 * 1_048_576) {
    this.#mostCharacters = mostCharacters;
    this.#entries = new BoundedCache(most, (_hash, { length }) => {
      this.#characters -= length;
    });
  }

  /** Characters of all tokens that are remembered. */
  get characters(): number {
    return this.#characters;
  }

  /** Null: a token that is too long to be remembered. */
  keyOf(token: string): TokenKey | null {
    return token.length <= longest ? { hash: hash('sha256', token, 'base64'), length: token.length } : null;
  }

  get(key: TokenKey): Verified | undefined {
    return this.#entries.get(key.hash)?.verified;
  }

  set({ hash, length }: TokenKey, verified: Verified): void {
    this.#entries.delete(hash);
    if (this.#characters + length > this.#mostCharacters) this.#entries.clear();
    this.#characters += length;
    this.#entries.set(hash, { verified, length });
  }
}
