import type {
  EntryStore,
  LockWait,
  LockWaitResult,
  MaybePromise,
  PurgeTarget,
  StoredEntry,
} from './store/entry-store.ts';

export interface MapStoreOptions {
  /** Methods return promises, like those of Redis. */
  readonly slow?: boolean;
}

/** A store in a map, for tests. */
export class MapStore implements EntryStore {
  readonly entries = new Map<string, StoredEntry>();
  readonly locks = new Map<string, (() => void)[]>();
  /** All methods reject with it while it is set. */
  failure: Error | null = null;
  readonly #slow: boolean;

  constructor({ slow = false }: MapStoreOptions = {}) {
    this.#slow = slow;
  }

  get(key: string): MaybePromise<StoredEntry | null> {
    return this.#result(() => {
      const entry = this.entries.get(key);
      return entry === undefined || entry.expires <= Date.now() ? null : { ...entry };
    });
  }

  put(key: string, entry: StoredEntry): MaybePromise<boolean> {
    return this.#result(() => {
      this.entries.set(key, { ...entry, body: Buffer.from(entry.body) });
      return true;
    });
  }

  purge(target: PurgeTarget): MaybePromise<number> {
    return this.#result(() => {
      let count = 0;
      for (const [key, { tags, url }] of this.entries) {
        const chosen =
          target === 'all' ||
          ('key' in target && target.key === key) ||
          ('tag' in target && tags.includes(target.tag)) ||
          ('prefix' in target && url.startsWith(target.prefix)) ||
          'instance' in target;
        if (chosen && this.entries.delete(key)) count++;
      }
      return count;
    });
  }

  acquireLock(key: string): MaybePromise<LockWait | null> {
    return this.#result(() => {
      const waiting = this.locks.get(key);
      if (waiting === undefined) {
        this.locks.set(key, []);
        return null;
      }
      return (wait: number) =>
        new Promise<LockWaitResult>((resolve) => {
          const timer = setTimeout(() => resolve('late'), wait);
          waiting.push(() => {
            clearTimeout(timer);
            resolve('done');
          });
        });
    });
  }

  releaseLock(key: string): void {
    const waiting = this.locks.get(key) ?? [];
    this.locks.delete(key);
    for (const notify of waiting) notify();
  }

  close(): void {}

  #result<T>(work: () => T): MaybePromise<T> {
    const { failure } = this;
    if (failure !== null) return Promise.reject(failure);
    const value = work();
    return this.#slow ? Promise.resolve(value) : value;
  }
}
