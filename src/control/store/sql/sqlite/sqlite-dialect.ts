import { setTimeout } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteDialect,
  SqliteDriver,
  type TransactionSettings,
} from 'kysely';
import { StoreError } from '../../store.ts';
import type { ReplacedFile } from './replaced-file.ts';
import type { SqliteConnection } from './sqlite-database.ts';
import { isBusy } from './sqlite-errors.ts';
import type { WriteLock } from './write-lock.ts';

/** Milliseconds between two attempts to take the lock while another process holds it. */
const lockPollInterval = 10;

export interface NodeSqliteOptions {
  readonly connection: SqliteConnection;
  /** How long a writing transaction waits for another process to finish its own. In milliseconds. */
  readonly lockTimeout: number;
  /** Held by the one connection of this process that is in a writing transaction. */
  readonly lock: WriteLock;
  readonly file: ReplacedFile;
}

/** Kysely's SQLite dialect over one connection of ours; its driver hands the connection to one user at a time. */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #options: NodeSqliteOptions;

  constructor(options: NodeSqliteOptions) {
    super({ database: options.connection });
    this.#options = options;
  }

  override createDriver(): Driver {
    return new NodeSqliteDriver(this.#options);
  }
}

class NodeSqliteDriver extends SqliteDriver {
  readonly #connection: SqliteConnection;
  readonly #lockTimeout: number;
  readonly #lock: WriteLock;
  readonly #file: ReplacedFile;
  #release: (() => void) | null = null;

  constructor({ connection, lockTimeout, lock, file }: NodeSqliteOptions) {
    super({ database: connection });
    this.#connection = connection;
    this.#lockTimeout = lockTimeout;
    this.#lock = lock;
    this.#file = file;
  }

  /**
   * A transaction that will write takes the lock at once: taking it later fails when another process wrote in between. SQLite's
   * own waiting would block the thread, which the holder of the lock in this process needs.
   */
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    if (settings?.accessMode === 'read only') {
      await connection.executeQuery(CompiledQuery.raw('begin'));
      return;
    }
    const release = await this.#lock.acquire();
    try {
      await this.#beginImmediate(connection);
      this.#release = release;
    } catch (error) {
      release();
      throw error;
    }
  }

  async #beginImmediate(connection: DatabaseConnection): Promise<void> {
    const deadline = performance.now() + this.#lockTimeout;
    for (;;) {
      if (this.#file.reopen()) {
        try {
          await connection.executeQuery(CompiledQuery.raw('begin immediate'));
          return;
        } catch (error) {
          if (!isBusy(error) || performance.now() >= deadline) throw error;
        }
      } else if (performance.now() >= deadline) throw replaced();
      await setTimeout(lockPollInterval);
    }
  }

  /** A commit to a file that no longer has a name would be lost. */
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#release !== null && this.#file.isReplaced()) throw replaced();
    await super.commitTransaction(connection);
    this.#done();
  }

  /** After a full disk, for example, SQLite has rolled back by itself. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
    } finally {
      this.#done();
    }
  }

  #done(): void {
    this.#release?.();
    this.#release = null;
  }
}

function replaced(): StoreError {
  return new StoreError({ kind: 'unavailable' }, { message: 'the store file is being replaced; nothing was written' });
}
