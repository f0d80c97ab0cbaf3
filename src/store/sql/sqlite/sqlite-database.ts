import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { toStoreError } from './sqlite-errors.ts';

/** How long opening waits for another process that is opening, or recovering, the same file. In milliseconds. */
const openTimeout = 5000;

/** The same for a statement. Short, since it holds up the whole thread; transactions wait longer, without doing so. */
const statementTimeout = 100;

/** Statements kept prepared for each connection; their number is bounded by the queries in the code, not by the data. */
const cachedStatements = 500;

/** One connection of `node:sqlite` in the form that Kysely's SQLite driver expects. */
export interface SqliteConnection extends SqliteDatabase {
  readonly inTransaction: boolean;
}

/**
 * @param durability `full`: a commit waits for the disk, so that what was answered survives a power cut. `normal`: it
 *   survives the end of the process only.
 */
export function openSqliteDatabase(file: string, durability: 'full' | 'normal'): SqliteConnection {
  const database = new DatabaseSync(file, { timeout: openTimeout, enableForeignKeyConstraints: true });
  try {
    database.exec(
      `pragma journal_mode = wal; pragma synchronous = ${durability}; pragma busy_timeout = ${statementTimeout}`,
    );
  } catch (error) {
    database.close();
    throw error;
  }
  const cache = new Map<string, SqliteStatement>();
  return {
    get inTransaction() {
      return database.isTransaction;
    },
    prepare: (sql) => {
      const cached = cache.get(sql);
      if (cached !== undefined) return cached;
      const statement = translated(file, () => toKyselyStatement(file, database.prepare(sql)));
      if (cache.size >= cachedStatements) cache.clear();
      cache.set(sql, statement);
      return statement;
    },
    close: () => {
      cache.clear();
      if (database.isOpen) database.close();
    },
  };
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
