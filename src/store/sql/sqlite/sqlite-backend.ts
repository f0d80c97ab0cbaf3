import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, sql } from 'kysely';
import { StoreError } from '../../store.ts';
import type { ColumnRow, Database, SqlBackend, StoreHead, Tables } from '../sql-backend.ts';
import { openSqliteDatabase, type SqliteConnection } from './sqlite-database.ts';
import { NodeSqliteDialect } from './sqlite-dialect.ts';
import { describeOpenError } from './sqlite-errors.ts';
import { createWriteLock, type WriteLock } from './write-lock.ts';

interface OpenDatabase {
  readonly queries: Database;
  readonly connection: SqliteConnection;
}

/** How long a write waits for another process, such as a command, that writes to the same file. In milliseconds. */
const defaultLockTimeout = 5000;

/**
 * Four connections to one file, since SQLite has one transaction for each: readers see the last commit while a writer is at
 * work, and short reads do not wait behind a long one.
 */
export function openSqliteBackend(file: string, lockTimeout = defaultLockTimeout): SqlBackend {
  createFile(file);
  const lock = createWriteLock();
  const write = openDatabase(file, lockTimeout, lock);
  const read = openDatabase(file, lockTimeout, lock);
  const snapshot = openDatabase(file, lockTimeout, lock);
  const counters = openDatabase(file, lockTimeout, lock, 'normal');
  return {
    kind: 'sqlite',
    write: write.queries,
    read: read.queries,
    snapshot: snapshot.queries,
    counters: counters.queries,
    types: { text: 'text', json: 'text', now: "cast(unixepoch('subsec') * 1000 as integer)" },
    // `begin immediate` has locked out every other writer already.
    beginMigration: async () => undefined,
    lockHead: async (transaction): Promise<StoreHead> => {
      const head = await transaction.selectFrom('store_version').selectAll().executeTakeFirstOrThrow();
      return { version: Number(head['version']), lastTimestamp: Number(head['last_timestamp']) };
    },
    // One node owns the file, so there is nobody else to tell or to hear from.
    notify: async () => undefined,
    watch: () => async () => undefined,
    ping: async () => {
      await sql<ColumnRow>`select 1`.execute(read.queries);
    },
    close: async () => {
      for (const database of [write, read, snapshot, counters]) {
        await database.queries.destroy();
        // Kysely leaves a connection open that was never used, and SQLite empties its log with the last one only.
        database.connection.close();
      }
    },
  };
}

/** SQLite would make the file readable for all; its companion files get the mode of this one. */
function createFile(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw refused(file, error);
  }
}

function openDatabase(
  file: string,
  lockTimeout: number,
  lock: WriteLock,
  durability: 'full' | 'normal' = 'full',
): OpenDatabase {
  try {
    const connection = openSqliteDatabase(file, durability);
    return {
      connection,
      queries: new Kysely<Tables>({ dialect: new NodeSqliteDialect(connection, lockTimeout, lock) }),
    };
  } catch (error) {
    throw refused(file, error);
  }
}

function refused(file: string, error: unknown): StoreError {
  return new StoreError(
    { kind: 'refused' },
    { cause: error, message: `cannot open the store ${file}: ${describeOpenError(error)}` },
  );
}
