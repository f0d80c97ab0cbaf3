import type { SeenCommit, StoreLog } from './sql-backend.ts';

/** Notifies subscribers of commits: this node's at once, those of other nodes when the backend detects them. */
export interface ChangeFeed {
  /** A commit of this or another node is visible. The same commit is announced once. */
  announce(commit: SeenCommit, origin?: 'this node'): void;
  subscribe(listener: () => void): () => void;
  close(): Promise<void>;
}

export function createChangeFeed(startWatching: () => () => Promise<void>, log: StoreLog): ChangeFeed {
  const listeners = new Set<() => void>();
  let seen: SeenCommit | null = null;
  let stopWatching: (() => Promise<void>) | null = null;
  let closed = false;

  function announce(commit: SeenCommit, origin?: 'this node'): void {
    if (closed || (seen?.version === commit.version && (commit.stamp === null || commit.stamp === seen.stamp))) return;
    // A commit of this node has a new version, so a notification without a stamp was about the same commit.
    const notified = origin !== undefined && seen?.version === commit.version && seen.stamp === null;
    seen = commit;
    if (notified) return;
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        log.warn(`a listener of the change feed failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  return {
    announce,
    subscribe: (listener) => {
      // Wrapped, so that the same function subscribed twice is two subscriptions.
      const entry = (): void => listener();
      listeners.add(entry);
      if (!closed) stopWatching ??= startWatching();
      return () => listeners.delete(entry);
    },
    close: async () => {
      closed = true;
      listeners.clear();
      await stopWatching?.();
    },
  };
}
