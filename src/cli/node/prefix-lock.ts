import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Milliseconds that a start waits for a command that is testing the lock. */
const lockTimeout = 1000;

/** SQLITE_BUSY: another process holds a lock. */
const busy = 5;

/** A database that is garbage-collected is closed, and its lock is gone. */
const held = new Set<DatabaseSync>();

/**
 * A lock on the prefix that the kernel releases when its holder ends, however it ends, and that works between containers that
 * share a volume, where pids mean nothing. Node has no `flock`; SQLite's file locks do. Null: another process holds it.
 */
export function takePrefixLock(path: string): { release(): void } | null {
  const database = new DatabaseSync(path, { timeout: lockTimeout });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  held.add(database);
  return {
    release() {
      if (held.delete(database)) database.close();
    },
  };
}

/** Whether some process holds the lock. */
export function isPrefixLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare('select count(*) from sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === busy;
}
