import type { MaybePromise, PurgeTarget, StoredEntry } from './entry-store.ts';

/**
 * The last purges. A response that was requested from the backend before a purge may arrive after it: it must not be stored. So a
 * purge is noted before it removes anything, and a worker that has stored a response then looks whether a purge was noted since it
 * was requested: either the purge has seen the entry, or the worker sees the purge.
 */
export interface PurgeLog {
  note(target: NotedPurge): MaybePromise<void>;
  /** Whether a purge of the entry was noted after `sentAt` (`preciseNow`). Also true if that is no longer known. */
  hasPurged(key: string, entry: Pick<StoredEntry, 'tags' | 'url'>, sentAt: number): MaybePromise<boolean>;
  close(): void;
}

export type NotedPurge = Exclude<PurgeTarget, 'all'>;

/** For stores that are never purged. */
export const noPurges: PurgeLog = { note: () => undefined, hasPurged: () => false, close: () => {} };
