import { Kysely, sql } from 'kysely';
import type { ColumnRow, Database, SqlBackend, Tables } from '../sql-backend.ts';
import { plain } from '../statements.ts';
import { readHead } from '../store-head.ts';
import {
  closeConnections,
  openSqliteConnections,
  type SqliteBackendOptions,
  type SqliteConnections,
} from './sqlite-connections.ts';
import type { SqliteConnection } from './sqlite-database.ts';
import { NodeSqliteDialect } from './sqlite-dialect.ts';
import { watchSqlite } from './sqlite-watch.ts';

export function openSqliteBackend(file: string, options: SqliteBackendOptions): SqlBackend {
  return createSqliteBackend(openSqliteConnections(file, options));
}

/** No one else uses the connections from then on. */
export function createSqliteBackend(connections: SqliteConnections): SqlBackend {
  const queriesOf = (connection: SqliteConnection): Database =>
    new Kysely<Tables>({ dialect: new NodeSqliteDialect({ ...connections, connection }) });
  // Queries over one connection wait for each other.
  const byConnection = new Map<SqliteConnection, Database>();
  const queries = (connection: SqliteConnection): Database => {
    const known = byConnection.get(connection) ?? queriesOf(connection);
    byConnection.set(connection, known);
    return known;
  };
  const [write, read, snapshot, counters] = [
    queries(connections.write),
    queries(connections.read),
    queries(connections.snapshot),
    queries(connections.counters),
  ];
  return {
    kind: 'sqlite',
    write,
    read,
    snapshot,
    counters,
    types: { text: 'text', json: 'text', now: "cast(unixepoch('subsec') * 1000 as integer)" },
    // `begin immediate` has excluded every other writer already.
    beginMigration: async () => undefined,
    lockHead: (transaction) => readHead(plain(transaction)),
    // One node owns the file, so there is no other node to notify.
    notify: async () => undefined,
    watch: (onCommit) =>
      write === read
        ? async () => undefined
        : watchSqlite({ file: connections.file, onCommit, readPosition: () => readHead(plain(read)) }),
    ping: async () => {
      await sql<ColumnRow>`select 1`.execute(read);
    },
    close: async () => {
      for (const each of byConnection.values()) await each.destroy();
      // Kysely leaves a connection open that was never used, and SQLite empties its log with the last one only.
      closeConnections(connections);
    },
  };
}
