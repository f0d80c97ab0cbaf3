/** A lock for one user at a time, in order of arrival. */
export interface WriteLock {
  /** Resolves to the function that releases the lock. */
  acquire(): Promise<() => void>;
}

/**
 * SQLite has one writer for each file. Connections of one process wait for each other here: SQLite's own waiting stops
 * the thread that both of them need.
 */
export function createWriteLock(): WriteLock {
  let last: Promise<void> = Promise.resolve();
  return {
    acquire: async () => {
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await before;
      return resolve;
    },
  };
}
