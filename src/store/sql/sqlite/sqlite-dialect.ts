import { setTimeout } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteDialect,
  SqliteDriver,
  type TransactionSettings,
} from 'kysely';
import type { SqliteConnection } from './sqlite-database.ts';
import { isBusy } from './sqlite-errors.ts';

/** How often the lock is asked for while another process holds it. In milliseconds. */
const lockPollInterval = 10;

/** Kysely's SQLite dialect over one connection of ours; its driver hands the connection to one user at a time. */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #connection: SqliteConnection;
  readonly #lockTimeout: number;

  /** @param lockTimeout How long a writing transaction waits for another process to finish its own. In milliseconds. */
  constructor(connection: SqliteConnection, lockTimeout: number) {
    super({ database: connection });
    this.#connection = connection;
    this.#lockTimeout = lockTimeout;
  }

  override createDriver(): Driver {
    return new NodeSqliteDriver(this.#connection, this.#lockTimeout);
  }
}

class NodeSqliteDriver extends SqliteDriver {
  readonly #connection: SqliteConnection;
  readonly #lockTimeout: number;

  /** @param lockTimeout How long a writing transaction waits for another process to finish its own. In milliseconds. */
  constructor(connection: SqliteConnection, lockTimeout: number) {
    super({ database: connection });
    this.#connection = connection;
    this.#lockTimeout = lockTimeout;
  }

  /**
   * A transaction that will write takes the lock at once: taking it later fails when another process wrote in between. SQLite's
   * own waiting would stop the thread, and with it whoever of this process holds the lock.
   */
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    const deadline = performance.now() + this.#lockTimeout;
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw(begin));
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw error;
        await setTimeout(lockPollInterval);
      }
    }
  }

  /** After a full disk, for example, SQLite has rolled back by itself. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }
}
