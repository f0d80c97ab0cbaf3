import { hash } from 'node:crypto';
import { type EntityAccess, EntityAccessError, type EntityRow } from '../../plugin-sdk/entity-access.ts';

const entity = 'revoked_sessions';
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Maximum rows of a list: a full one may be incomplete. */
const fullList = 1000;
const maxTtl = 100_000_000;

type Revoked = ReadonlySet<string>;

/** Made once per cached lookup, for all instances of all plugins. */
const sets = new WeakMap<readonly EntityRow[], Revoked>();

/**
 * Sessions that ended before the expiry of their cookies, on all workers and nodes that share the store. The store holds
 * one row for each until no copy of the cookie is valid any more. A worker caches the list in 64 answers, one for each
 * first character of the key, which a revocation invalidates; so a check rarely needs the store. While
 * the store is unavailable the last known list applies, and a check without one rejects.
 */
export class SessionRevocations {
  readonly #entities: EntityAccess;
  readonly #lastKnown = new Map<string, Revoked>();

  constructor(entities: EntityAccess) {
    this.#entities = entities;
  }

  /** Reads the whole list in advance, so that it is cached during an outage of the store. */
  preload(): void {
    for (const bucket of alphabet) {
      const rows = this.#entities.list(entity, 'bucket', bucket);
      if (rows instanceof Promise) rows.then((found) => this.#know(bucket, found)).catch(() => {});
      else this.#know(bucket, rows);
    }
  }

  /** `key`: of `sessionKey`. Rejects with an `EntityAccessError` when neither cache nor store can answer. */
  has(key: string): boolean | Promise<boolean> {
    const bucket = key.charAt(0);
    const rows = this.#entities.list(entity, 'bucket', bucket);
    if (!(rows instanceof Promise)) return this.#isAmong(key, bucket, rows);
    return rows.then(
      (found) => this.#isAmong(key, bucket, found),
      (error: unknown) => {
        const known = this.#lastKnown.get(bucket);
        if (known === undefined || !(error instanceof EntityAccessError)) throw error;
        return known.has(key);
      },
    );
  }

  /** `until`: seconds since the epoch. Resolves when every worker of this node refuses the session. */
  async revoke(key: string, until: number): Promise<void> {
    const left = Math.ceil(until - Date.now() / 1000);
    if (left <= 0) return;
    const fields = { session: key, bucket: key.charAt(0), ttl: Math.min(maxTtl, left) };
    try {
      await this.#entities.insert(entity, fields);
    } catch (error) {
      // The session is revoked already.
      if (!(error instanceof EntityAccessError) || error.kind !== 'conflict') throw error;
    }
  }

  #isAmong(key: string, bucket: string, rows: readonly EntityRow[]): boolean | Promise<boolean> {
    if (this.#know(bucket, rows).has(key)) return true;
    if (rows.length < fullList) return false;
    const row = this.#entities.find(entity, 'session', key);
    return row instanceof Promise ? row.then((found) => found !== null) : row !== null;
  }

  #know(bucket: string, rows: readonly EntityRow[]): Revoked {
    let revoked = sets.get(rows);
    if (revoked === undefined) {
      revoked = new Set(rows.map((row) => String(row['session'])));
      sets.set(rows, revoked);
    }
    if (this.#lastKnown.get(bucket) !== revoked) this.#lastKnown.set(bucket, revoked);
    return revoked;
  }
}

/** Identifies a login in the store: the random identifier in the cookie cannot be derived from it. */
export function sessionKey(login: string): string {
  return hash('sha256', login, 'base64url');
}
