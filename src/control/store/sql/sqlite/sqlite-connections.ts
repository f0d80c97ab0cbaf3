import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../../store.ts';
import type { StoreLog } from '../sql-backend.ts';
import { inMemory } from './in-memory.ts';
import { ReplacedFile } from './replaced-file.ts';
import { openSqliteDatabase, type SqliteConnection, type SqliteOptions } from './sqlite-database.ts';
import { describeOpenError } from './sqlite-errors.ts';
import { createWriteLock, type WriteLock } from './write-lock.ts';

export interface SqliteBackendOptions {
  readonly log: StoreLog;
  /** How long a write waits for another process, such as a command, that writes to the same file. In milliseconds. */
  readonly lockTimeout?: number;
}

/**
 * Four connections to one file, since SQLite has one transaction for each: readers see the last commit while a writer is at
 * work, and short reads do not wait behind a long one.
 */
export interface SqliteConnections {
  readonly write: SqliteConnection;
  readonly read: SqliteConnection;
  readonly snapshot: SqliteConnection;
  readonly counters: SqliteConnection;
  /** How long a writing transaction waits for another process to finish its own. In milliseconds. */
  readonly lockTimeout: number;
  /** Held by the one connection of this process that is in a writing transaction. */
  readonly lock: WriteLock;
  readonly file: Pick<ReplacedFile, 'isReplaced' | 'reopen'>;
}

const noFile: SqliteConnections['file'] = { isReplaced: () => false, reopen: () => true };

const defaultLockTimeout = 5000;

/** KiB: enough for a transaction over 10,000 entities. Pages without room are written to the log before the commit, and read again. */
const writeCache = 16_384;

/**
 * Creates the file, with its directory, when it does not exist. With `inMemory` all four are one connection, and writers and readers take
 * turns. Throws a `StoreError` of kind `refused`.
 */
export function openSqliteConnections(
  path: string,
  { log, lockTimeout = defaultLockTimeout }: SqliteBackendOptions,
): SqliteConnections {
  const lock = createWriteLock();
  if (path === inMemory) {
    const only = open(path, { durability: 'normal', undoInMemory: true });
    return { write: only, read: only, snapshot: only, counters: only, lockTimeout, lock, file: noFile };
  }
  createFile(path);
  const file = new ReplacedFile(path, log);
  const [write, read, snapshot, counters] = [
    open(path, { durability: 'full', cacheSize: writeCache, undoInMemory: true }),
    open(path, { durability: 'full' }),
    open(path, { durability: 'full' }),
    open(path, { durability: 'normal' }),
  ];
  file.watch([write, read, snapshot, counters]);
  return { write, read, snapshot, counters, lockTimeout, lock, file };
}

export function closeConnections({ write, read, snapshot, counters }: SqliteConnections): void {
  for (const connection of [write, read, snapshot, counters]) connection.close();
}

/** SQLite would make the file readable for all; its companion files get the mode of this one. */
function createFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw refused(path, error);
  }
}

function open(path: string, options: SqliteOptions): SqliteConnection {
  try {
    return openSqliteDatabase(path, options);
  } catch (error) {
    throw refused(path, error);
  }
}

function refused(path: string, error: unknown): StoreError {
  return new StoreError(
    { kind: 'refused' },
    { cause: error, message: `cannot open the store ${path}: ${describeOpenError(error)}` },
  );
}
