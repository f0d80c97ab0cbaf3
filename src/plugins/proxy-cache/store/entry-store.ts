/** The contract of the backends: where entries are kept, and who fetches what. */

/** A value that is available now, or later. Memory answers at once, so that a hit there costs no promise. */
export type MaybePromise<T> = T | Promise<T>;

export function chain<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** What is stored of one response. Only the cache reads `head`: a backend stores it unchanged. */
export interface StoredEntry {
  /** Status, headers, times and partition as one text: see `entry-format.ts`. */
  readonly head: string;
  readonly body: Uint8Array;
  /** Milliseconds since the epoch after which a backend no longer returns it. */
  readonly expires: number;
  /** From `Surrogate-Key` and `Cache-Tag`; [] for none. */
  readonly tags: readonly string[];
  /** scheme://host/path?query, for purges by prefix. */
  readonly url: string;
}

export type PurgeTarget =
  | { readonly key: string }
  | { readonly tag: string }
  | { readonly prefix: string }
  | { readonly instance: string }
  | 'all';

/** `done`: the holder has released the lock, or its lease is over; look again. `late`: the wait is over. */
export type LockWaitResult = 'done' | 'late';

/** Waits for the holder of a fetch lock, for at most so many milliseconds. */
export type LockWait = (milliseconds: number) => Promise<LockWaitResult>;

/**
 * Keys are 64 hexadecimal digits. Methods answer synchronously if they can. While the server of a store does not
 * respond, they reject with `StoreUnavailable`.
 */
export interface EntryStore {
  get(key: string): MaybePromise<StoredEntry | null>;
  /** False: it does not fit, or has expired. The previous entry of the key is gone in any case. */
  put(key: string, entry: StoredEntry): MaybePromise<boolean>;
  /** Returns the number of entries that were removed. */
  purge(target: PurgeTarget): MaybePromise<number>;
  /**
   * Takes the fetch lock of a key, for all workers (memory) or nodes (Redis). Null: the caller holds it and must release
   * it. Otherwise the caller can wait for the holder. A lock is released after `lease` milliseconds in any case.
   */
  acquireLock(key: string, lease: number): MaybePromise<LockWait | null>;
  releaseLock(key: string): void;
  close(): void;
}

/** The server of a store does not respond. The message contains no secret: it may be logged. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
