import { hash } from 'node:crypto';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { EntityRow, IdentityDetails } from '../../plugin-sdk/index.ts';
import type { Claims } from './parse-token.ts';
import { RecentMarks } from './recent-marks.ts';

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

interface Entry {
  readonly verified: Verified;
  /** SHA-256 of the token. */
  readonly hash: string;
  readonly length: number;
}

/** Longer tokens are not cached. */
const longest = 8192;

/**
 * Verified tokens, by hash, so that valid tokens cannot be read from memory. A mark of each signature tells first whether a
 * token may be here: the hash of one that is not here is never computed.
 *
 * Bounded in number and in characters: the claims of a token take up to five times its length. Beyond either bound, older
 * ones are evicted, and only a token that comes again is stored: clients that use each token once would fill the cache with
 * claims that nobody reads, and each of them would be garbage that V8 has kept for long.
 */
export class VerifiedTokens {
  readonly #max: number;
  readonly #maxCharacters: number;
  readonly #entries: BoundedCache<number, Entry>;
  #seen: RecentMarks | null = null;
  #characters = 0;

  constructor(max = 10_000, maxCharacters = 8 * 1_048_576) {
    this.#max = max;
    this.#maxCharacters = maxCharacters;
    this.#entries = new BoundedCache(max, (_mark, { length }) => {
      this.#characters -= length;
    });
  }

  /** Total characters of the cached tokens. */
  get characters(): number {
    return this.#characters;
  }

  get(token: string): Verified | undefined {
    const entry = this.#entries.get(markOf(token));
    if (entry === undefined || entry.length !== token.length || entry.hash !== hashOf(token)) return undefined;
    return entry.verified;
  }

  set(token: string, verified: Verified): void {
    const { length } = token;
    if (length > longest) return;
    const mark = markOf(token);
    const replaced = this.#entries.delete(mark);
    if (!replaced && !this.#hasRoom(length)) {
      this.#seen ??= new RecentMarks(this.#max);
      if (!this.#seen.note(mark)) return;
    }
    if (this.#characters + length > this.#maxCharacters) this.#entries.clear();
    this.#characters += length;
    this.#entries.set(mark, { verified, hash: hashOf(token), length });
  }

  /** Whether another token evicts none. */
  #hasRoom(length: number): boolean {
    return this.#entries.size + 1 < this.#max && this.#characters + length <= this.#maxCharacters;
  }
}

function hashOf(token: string): string {
  return hash('sha256', token, 'base64');
}

/** 32 bits of the end of a token, which is the end of its signature. */
function markOf(token: string): number {
  let mark = token.length;
  for (let at = Math.max(0, token.length - 10); at < token.length; at++) {
    mark = Math.imul(mark ^ token.charCodeAt(at), 0x01000193);
  }
  return mark ^ (mark >>> 15);
}
