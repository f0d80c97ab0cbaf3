import { createHash, timingSafeEqual } from 'node:crypto';
import type { Row } from '../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';
import { foreignId, text } from '../../shared/entities/row-fields.ts';
import { throttledLog } from '../../shared/util/time/throttled-log.ts';
import { SignInLimiter } from '../admin/access/sign-in-limiter.ts';
import type { AdminLog } from '../admin/admin-log.ts';
import type { StoreReader } from '../store/store.ts';
import { PortalError, type PortalRequest } from './portal-request.ts';

/** Who uses the portal. */
export interface SignedIn {
  readonly consumer: Row;
  /** The credential that it has shown. */
  readonly credential: Row;
}

const entity = 'keyauth_credentials';
/** Bytes of a key that are hashed. */
const maxKey = 4_096;
/** Milliseconds between two lines of the error log on wrong keys. */
const refusalInterval = 10_000;

export interface PortalSignInOptions {
  readonly store: StoreReader;
  readonly entities: EntityRegistry;
  readonly log: AdminLog;
}

/**
 * Finds the consumer of the API key in `Authorization: Bearer`. The key is looked up by its hash, so the time that this takes says nothing
 * about how much of a guessed key is right. An address can guess as fast as one can guess tokens of the Admin API.
 */
export class PortalSignIn {
  readonly #options: PortalSignInOptions;
  readonly #limiter = new SignInLimiter();
  readonly #refused: (peer: string) => void;

  constructor(options: PortalSignInOptions) {
    this.#options = options;
    this.#refused = throttledLog(refusalInterval, (peer, suppressed) =>
      options.log.warn('request to the portal without a valid key', { peer, suppressed }),
    );
  }

  /** Throws a `PortalError`: 401 without a valid key, 429 for an address that guesses. Rejects with a `StoreError`. */
  async of({ headers, client }: PortalRequest): Promise<SignedIn> {
    const key = keyIn(headers.authorization);
    if (key === null) throw unauthorized();
    const hash = createHash('sha256').update(key).digest('hex');
    const attempt = this.#limiter.begin(client, hash);
    if (typeof attempt === 'number') {
      throw new PortalError(429, 'Too many wrong keys from this address', { 'retry-after': String(attempt) });
    }
    let accepted: boolean | null = null;
    try {
      const found = await this.#find(hash);
      accepted = found !== null;
      if (found !== null) return found;
    } finally {
      attempt.done(accepted);
    }
    this.#refused(client);
    throw unauthorized();
  }

  async #find(hash: string): Promise<SignedIn | null> {
    const { store, entities } = this.#options;
    // The plugin may not be loaded.
    if (entities.byName(entity) === undefined) return null;
    const credential = await store.findBy(entity, 'key_hash', hash);
    if (credential === null || !isSame(text(credential, 'key_hash') ?? '', hash)) return null;
    const consumer = await store.get('consumers', foreignId(credential, 'consumer') ?? '');
    return consumer === null ? null : { consumer, credential };
  }
}

function keyIn(authorization: string | undefined): string | null {
  const key = /^Bearer ([^\s]+)$/i.exec(authorization ?? '')?.[1];
  if (key === undefined || key.length > maxKey) return null;
  // Header fields are latin1; a page sends other characters percent-encoded.
  return decoded(key);
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function unauthorized(): PortalError {
  return new PortalError(401, 'The key is not valid');
}
