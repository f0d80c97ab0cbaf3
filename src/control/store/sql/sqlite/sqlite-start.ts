import type { Dump } from '../../store.ts';
import type { PlainQuery } from '../plain-query.ts';
import { dumpEntities } from '../rows/dump-entities.ts';
import type { EntityTables } from '../rows/entity-table.ts';
import { isCurrentLayout, isMissingTable } from '../schema/recorded-layout.ts';
import type { ColumnRow } from '../sql-backend.ts';
import { beginImmediate } from './begin-immediate.ts';
import type { SqliteConnections } from './sqlite-connections.ts';
import type { SqliteConnection } from './sqlite-database.ts';

/**
 * What a node does with its store before it can answer requests, without the query builder. One call at a time, and none together with
 * a `SqlBackend` on these connections.
 */
export class SqliteStart {
  readonly #connections: SqliteConnections;
  readonly #tables: EntityTables;

  constructor(connections: SqliteConnections, tables: EntityTables) {
    this.#connections = connections;
    this.#tables = tables;
  }

  ping(): void {
    this.#connections.read.prepare('select 1').all([]);
  }

  /** Whether a migration would change nothing. Like one, it waits for processes that write, such as a migration of a later version. */
  async hasCurrentLayout(): Promise<boolean> {
    const { snapshot } = this.#connections;
    const release = await beginImmediate({ ...this.#connections, connection: snapshot });
    try {
      return await isCurrentLayout(queryOf(snapshot), this.#tables);
    } catch (error) {
      if (isMissingTable(error)) return false;
      throw error;
    } finally {
      endTransaction(snapshot);
      release();
    }
  }

  async dump(entities: readonly string[]): Promise<Dump> {
    const { snapshot } = this.#connections;
    snapshot.prepare('begin').run([]);
    try {
      return await dumpEntities(queryOf(snapshot), this.#tables, entities);
    } finally {
      endTransaction(snapshot);
    }
  }
}

function queryOf(connection: SqliteConnection): PlainQuery {
  return {
    placeholder: () => '?',
    run: async (text, parameters = []) => connection.prepare(text).all(parameters) as readonly ColumnRow[],
  };
}

/** Nothing was written. After some errors SQLite has ended the transaction by itself. */
function endTransaction(connection: SqliteConnection): void {
  if (connection.inTransaction) connection.prepare('rollback').run([]);
}
