import { setTimeout } from 'node:timers/promises';
import { StoreError } from '../../store.ts';
import type { SqliteConnections } from './sqlite-connections.ts';
import type { SqliteConnection } from './sqlite-database.ts';
import { isBusy } from './sqlite-errors.ts';

/** Milliseconds between two attempts to take the lock while another process holds it. */
const lockPollInterval = 10;

export interface WritingConnection extends Pick<SqliteConnections, 'lockTimeout' | 'lock' | 'file'> {
  readonly connection: SqliteConnection;
}

/**
 * Begins a transaction that will write. It takes the lock at once: taking it later fails when another process wrote in between. SQLite's
 * own waiting would block the thread, which the holder of the lock in this process needs. Returns the function that releases the
 * lock of this process, to be called after the end of the transaction.
 */
export async function beginImmediate(options: WritingConnection): Promise<() => void> {
  const release = await options.lock.acquire();
  try {
    await takeFileLock(options);
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

async function takeFileLock({ connection, file, lockTimeout }: WritingConnection): Promise<void> {
  const deadline = performance.now() + lockTimeout;
  for (;;) {
    if (file.reopen()) {
      try {
        connection.prepare('begin immediate').run([]);
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw error;
      }
    } else if (performance.now() >= deadline) throw fileIsReplaced();
    await setTimeout(lockPollInterval);
  }
}

export function fileIsReplaced(): StoreError {
  return new StoreError({ kind: 'unavailable' }, { message: 'the store file is being replaced; nothing was written' });
}
