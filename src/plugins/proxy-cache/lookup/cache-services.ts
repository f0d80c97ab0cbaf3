import { outageReporter } from '../../../plugin-kit/logging/index.ts';
import { BoundedCache } from '../../../plugin-kit/runtime/index.ts';
import type { PluginTools } from '../../../plugin-sdk/index.ts';
import { AddressKeys } from '../rules/cache-key.ts';
import { CachedReplies } from '../rules/cached-reply.ts';
import type { CachePolicy } from '../rules/policy.ts';
import { CacheStore } from '../store/cache-store.ts';
import type { EntryStore, LockWait, MaybePromise } from '../store/entry-store.ts';
import { noPurges, type PurgeLog } from '../store/purge-log.ts';
import type { CopyBudget } from './body-collector.ts';
import type { CacheContext } from './cache-context.ts';

/** What one plugin instance consists of, in one worker. */
export interface CacheServices {
  readonly policy: CachePolicy;
  readonly entries: EntryStore;
  readonly keys: AddressKeys;
  readonly store: CacheStore;
  readonly replies: CachedReplies;
  readonly locks: FetchLocks;
  readonly copyBudget: CopyBudget;
  /** Counts and logs a failure of the store. */
  readonly reportFailure: (error: unknown) => void;
  /** Releases the requests that wait for this one. */
  releaseLock(context: CacheContext): void;
}

/** Bytes of responses that a worker copies at the same time. */
const maxCopiedBytes = 64 * 2 ** 20;

/** Milliseconds. Longer than requests wait, as the holder of a lock is probably alive. */
const minLease = 10_000;

export function cacheServices(
  policy: CachePolicy,
  entries: EntryStore,
  tools: PluginTools,
  purges: PurgeLog = noPurges,
): CacheServices {
  const locks = new FetchLocks(entries, Math.max(policy.coalescingWait, minLease));
  return {
    policy,
    entries,
    keys: new AddressKeys(policy),
    store: new CacheStore(entries, policy, purges),
    replies: new CachedReplies(policy),
    locks,
    copyBudget: { available: Math.max(maxCopiedBytes, policy.maxBody) },
    reportFailure: outageReporter(tools, 'store_failures', 'the cache store does not respond; bypassing the cache'),
    releaseLock(context) {
      const { lockedKey } = context;
      if (lockedKey === '') return;
      context.lockedKey = '';
      locks.release(lockedKey);
    },
  };
}

/** Runs an operation of the store and returns its result; reports a failure, and returns false then. */
export function attempt(services: CacheServices, operation: () => MaybePromise<boolean>): MaybePromise<boolean> {
  const failed = (error: unknown): boolean => {
    services.reportFailure(error);
    return false;
  };
  try {
    const result = operation();
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}

/** Request coalescing: of several requests for the same key, the one that holds the lock fetches for all of them. */
export class FetchLocks {
  readonly #store: EntryStore;
  readonly #lease: number;
  /** Monotonic time until which requests for a key do not wait for each other. */
  readonly #suspended = new BoundedCache<string, number>(2048);

  /** `lease`: milliseconds after which the holder of a lock is assumed to be dead. */
  constructor(store: EntryStore, lease: number) {
    this.#store = store;
    this.#lease = lease;
  }

  /** Null: the caller holds the lock. */
  acquire(key: string): MaybePromise<LockWait | null> {
    return this.#store.acquireLock(key, this.#lease);
  }

  release(key: string): void {
    this.#store.releaseLock(key);
  }

  /** For so many milliseconds no request of this worker waits for the key. */
  suspend(key: string, milliseconds: number): void {
    this.#suspended.set(key, performance.now() + milliseconds);
  }

  isSuspended(key: string): boolean {
    const until = this.#suspended.get(key);
    return until !== undefined && performance.now() < until;
  }
}
