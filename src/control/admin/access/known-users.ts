import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { monotonic } from '../../../shared/util/time/clock.ts';
import type { Store } from '../../store/store.ts';
import { StoreError } from '../../store/store.ts';

/** Milliseconds for which "there are users" is believed without reading the store again. */
const rereadAfter = 1_000;

export interface KnownUsersOptions {
  readonly store: Store;
  /** Remembers the answer while the node is stopped. */
  readonly path: string;
  readonly warn: (message: string) => void;
}

/**
 * Whether there is an admin user, so that every request must sign in. Read for each request without sign-in until there is one: the first
 * request after the first user was created is refused on every node. While the store is unavailable, the last answer counts, also that of
 * a node that ran before in the same prefix; without any, requests must sign in.
 */
export class KnownUsers {
  readonly #options: KnownUsersOptions;
  #last: boolean | null;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: KnownUsersOptions) {
    this.#options = options;
    this.#last = remembered(options.path);
  }

  /** Rejects with a `StoreError` when the store is unavailable and has never been read. */
  async exist(): Promise<boolean> {
    if (this.#last === true && monotonic() - this.#readAt < rereadAfter) return true;
    try {
      const found = (await this.#options.store.list('admin_users', { limit: 1 })).length > 0;
      if (found !== this.#last) this.#remember(found);
      this.#last = found;
      this.#readAt = monotonic();
      return found;
    } catch (error) {
      if (this.#last === null || !isUnavailable(error)) throw error;
      return this.#last;
    }
  }

  /** At once, so that the file never has an older answer than the memory; the answer changes rarely. */
  #remember(found: boolean): void {
    const { path, warn } = this.#options;
    const draft = `${path}.${process.pid}`;
    try {
      writeFileSync(draft, JSON.stringify({ users: found }), { mode: 0o600 });
      renameSync(draft, path);
    } catch (error) {
      warn(`cannot write ${path}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && (error.detail.kind === 'unavailable' || error.detail.kind === 'refused');
}

function remembered(path: string): boolean | null {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const users = typeof content === 'object' && content !== null && 'users' in content ? content.users : null;
    return typeof users === 'boolean' ? users : null;
  } catch {
    return null;
  }
}
