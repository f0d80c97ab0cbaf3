import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { toStoreError } from './sqlite-errors.ts';

/** How long opening waits for another process that is opening, or recovering, the same file. In milliseconds. */
const openTimeout = 5000;

/** The same for a statement. Short, since it blocks the whole thread; transactions wait longer without blocking it. */
const statementTimeout = 100;

/** Statements kept prepared for each connection; their number is bounded by the queries in the code, not by the data. */
const cachedStatements = 500;

/** One connection of `node:sqlite` in the form that Kysely's SQLite driver expects. */
export interface SqliteConnection extends SqliteDatabase {
  readonly inTransaction: boolean;
  /** Moves the content of the log to the file. */
  checkpoint(): void;
  /** Closes the file; the next statement opens the file that then has the name. */
  disconnect(): void;
}

export interface SqliteOptions {
  /**
   * `full`: a commit waits for the disk, so that acknowledged writes survive a power cut. `normal`: it survives the end of the process
   * only.
   */
  readonly durability: 'full' | 'normal';
  /** KiB of pages that the connection keeps in memory. Default: that of SQLite, 2000. */
  readonly cacheSize?: number;
  /** The pages that a savepoint can restore are kept in memory instead of a file, and large sorts too. Default: false. */
  readonly undoInMemory?: boolean;
}

export function openSqliteDatabase(file: string, options: SqliteOptions): SqliteConnection {
  const cache = new Map<string, SqliteStatement>();
  let open: DatabaseSync | null = openFile(file, options);
  let closed = false;

  function connected(): DatabaseSync {
    if (open === null && !closed) open = openFile(file, options);
    if (open === null) throw new Error(`the store ${file} is closed`);
    return open;
  }

  function disconnect(): void {
    cache.clear();
    open?.close();
    open = null;
  }

  return {
    get inTransaction() {
      return open?.isTransaction === true;
    },
    checkpoint: () => {
      try {
        open?.exec('pragma wal_checkpoint(truncate)');
      } catch {
        // The file is discarded anyway.
      }
    },
    disconnect,
    prepare: (sql) => {
      const cached = cache.get(sql);
      if (cached !== undefined) return cached;
      const statement = translated(file, () => toKyselyStatement(file, connected().prepare(sql)));
      if (cache.size >= cachedStatements) cache.clear();
      cache.set(sql, statement);
      return statement;
    },
    close: () => {
      closed = true;
      disconnect();
    },
  };
}

function openFile(file: string, { durability, cacheSize = 2000, undoInMemory = false }: SqliteOptions): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: openTimeout, enableForeignKeyConstraints: true });
  try {
    database.exec(
      `pragma journal_mode = wal; pragma synchronous = ${durability}; pragma busy_timeout = ${statementTimeout};
       pragma cache_size = -${cacheSize}; pragma temp_store = ${undoInMemory ? 'memory' : 'default'}`,
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function toKyselyStatement(file: string, statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => translated(file, () => statement.all(...toInputValues(parameters))),
    run: (parameters) => translated(file, () => statement.run(...toInputValues(parameters))),
    iterate: (parameters) => statement.iterate(...toInputValues(parameters)),
  };
}

function toInputValues(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value;
    throw new TypeError(`a ${typeof value} cannot be bound to a statement`);
  });
}

function translated<T>(file: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toStoreError(error, file);
  }
}
