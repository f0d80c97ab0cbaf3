import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, sql } from 'kysely';
import { StoreError } from '../../store.ts';
import { readHead } from '../change-log.ts';
import type { ColumnRow, Database, SqlBackend, StoreLog, Tables } from '../sql-backend.ts';
import { ReplacedFile } from './replaced-file.ts';
import { openSqliteDatabase, type SqliteConnection, type SqliteOptions } from './sqlite-database.ts';
import { NodeSqliteDialect, type NodeSqliteOptions } from './sqlite-dialect.ts';
import { describeOpenError } from './sqlite-errors.ts';
import { watchSqlite } from './sqlite-watch.ts';
import { createWriteLock } from './write-lock.ts';

interface OpenDatabase {
  readonly queries: Database;
  readonly connection: SqliteConnection;
}

export interface SqliteBackendOptions {
  readonly log: StoreLog;
  /** How long a write waits for another process, such as a command, that writes to the same file. In milliseconds. */
  readonly lockTimeout?: number;
}

const defaultLockTimeout = 5000;

/** KiB: enough for a transaction over 10,000 entities. Pages without room are written to the log before the commit, and read again. */
const writeCache = 16_384;

/**
 * Four connections to one file, since SQLite has one transaction for each: readers see the last commit while a writer is at
 * work, and short reads do not wait behind a long one.
 */
export function openSqliteBackend(
  file: string,
  { log, lockTimeout = defaultLockTimeout }: SqliteBackendOptions,
): SqlBackend {
  createFile(file);
  const replaced = new ReplacedFile(file, log);
  const lock = createWriteLock();
  const open = (options: SqliteOptions): OpenDatabase =>
    openDatabase(file, options, { lockTimeout, lock, file: replaced });
  const [write, read, snapshot, counters] = [
    open({ durability: 'full', cacheSize: writeCache, undoInMemory: true }),
    open({ durability: 'full' }),
    open({ durability: 'full' }),
    open({ durability: 'normal' }),
  ];
  replaced.watch([write, read, snapshot, counters].map(({ connection }) => connection));
  return {
    kind: 'sqlite',
    write: write.queries,
    read: read.queries,
    snapshot: snapshot.queries,
    counters: counters.queries,
    types: { text: 'text', json: 'text', now: "cast(unixepoch('subsec') * 1000 as integer)" },
    // `begin immediate` has excluded every other writer already.
    beginMigration: async () => undefined,
    lockHead: (transaction) => readHead(transaction),
    // One node owns the file, so there is no other node to notify.
    notify: async () => undefined,
    watch: (onCommit) => watchSqlite({ file: replaced, onCommit, readPosition: () => readHead(read.queries) }),
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
  connectionOptions: SqliteOptions,
  options: Omit<NodeSqliteOptions, 'connection'>,
): OpenDatabase {
  try {
    const connection = openSqliteDatabase(file, connectionOptions);
    return {
      connection,
      queries: new Kysely<Tables>({ dialect: new NodeSqliteDialect({ ...options, connection }) }),
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
