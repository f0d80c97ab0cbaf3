import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteDialect,
  SqliteDriver,
  type TransactionSettings,
} from 'kysely';
import { beginImmediate, fileIsReplaced, type WritingConnection } from './begin-immediate.ts';

/** Kysely's SQLite dialect over one connection of ours; its driver hands the connection to one user at a time. */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #options: WritingConnection;

  constructor(options: WritingConnection) {
    super({ database: options.connection });
    this.#options = options;
  }

  override createDriver(): Driver {
    return new NodeSqliteDriver(this.#options);
  }
}

class NodeSqliteDriver extends SqliteDriver {
  readonly #options: WritingConnection;
  #release: (() => void) | null = null;

  constructor(options: WritingConnection) {
    super({ database: options.connection });
    this.#options = options;
  }

  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    if (settings?.accessMode === 'read only') await connection.executeQuery(CompiledQuery.raw('begin'));
    else this.#release = await beginImmediate(this.#options);
  }

  /** A commit to a file that no longer has a name would be lost. */
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#release !== null && this.#options.file.isReplaced()) throw fileIsReplaced();
    await super.commitTransaction(connection);
    this.#done();
  }

  /** After a full disk, for example, SQLite has rolled back by itself. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      if (this.#options.connection.inTransaction) await super.rollbackTransaction(connection);
    } finally {
      this.#done();
    }
  }

  #done(): void {
    this.#release?.();
    this.#release = null;
  }
}
