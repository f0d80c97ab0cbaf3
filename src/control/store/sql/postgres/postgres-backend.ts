import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely';
import pg from 'pg';
import type { Settings } from '../../../../shared/settings/settings.ts';
import { awaitWithTimeout } from '../../../../shared/util/time/await-with-timeout.ts';
import type { ColumnRow, SqlBackend, SqlTransaction, StoreHead, StoreLog, Tables } from '../sql-backend.ts';
import { toHead } from '../store-head.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { changesChannel } from './notification-listener.ts';
import { OpenSockets } from './open-sockets.ts';
import { createPool } from './postgres-pool.ts';
import { watchPostgres } from './postgres-watch.ts';

export interface PostgresBackendOptions {
  readonly pg: Settings['pg'];
  readonly ca: string | null;
  readonly log: StoreLog;
}

/** Timeout of a statement that reads everything, or changes the layout of tables. In milliseconds. */
const longTimeout = 60_000;

/** Connections for those; a node does one of them at a time. */
const longPoolSize = 2;

/** Connections for counters of limits. Each worker waits for one batch at a time. */
const countersPoolSize = 4;

/** Milliseconds in which the server has to close its connections before they are cut. */
const closeLimit = 1000;

/** Key of the advisory lock under which one node at a time migrates: an arbitrary number that only we use. */
const migrationLock = 7_305_801_846;

/** Object ids of types in PostgreSQL's catalogue: `bigint` and `json`. */
const bigintType = 20;
const jsonType = 114;

export function createPostgresBackend({ pg: settings, ca, log }: PostgresBackendOptions): SqlBackend {
  const sockets = new OpenSockets();
  const connection = { ...toClientConfig(settings, ca), stream: () => sockets.create() };
  const address = `${settings.user}@${settings.host}:${settings.port}/${settings.database}`;
  const patient = (timeout: number): pg.ClientConfig => ({ ...connection, query_timeout: timeout + 1000 });
  const settingsWith = (timeout: number, durable = true): ConnectionSettings => ({
    schema: settings.schema,
    statementTimeout: timeout,
    idleTimeout: timeout + 10_000,
    durable,
  });
  const poolOf = (size: number, timeout: number, durable = true): PostgresPool =>
    createPool({
      address,
      log,
      size,
      connection: patient(timeout),
      settings: settingsWith(timeout, durable),
      setUpTimeout: settings.timeout,
    });
  const short = poolOf(settings.poolSize, settings.timeout);
  const long = poolOf(longPoolSize, longTimeout);
  const counting = poolOf(countersPoolSize, settings.timeout, false);
  const [regular, snapshot, counters] = [short, long, counting].map(
    (pool) => new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }),
  ) as [Kysely<Tables>, Kysely<Tables>, Kysely<Tables>];
  return {
    kind: 'postgres',
    write: regular,
    read: regular,
    snapshot,
    counters,
    // Without a collation of its own a text column would be ordered by the language of the database.
    types: {
      text: 'text collate "C"',
      json: 'json',
      now: 'cast(extract(epoch from now()) * 1000 as bigint)',
    },
    beginMigration: async (transaction) => {
      await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(transaction);
      // A change of a table waits for those who read it, and everyone else waits behind it.
      await sql`set local lock_timeout to ${sql.raw(String(settings.timeout))}`.execute(transaction);
      if (settings.schema !== null) await createSchema(transaction, settings.schema);
    },
    lockHead: async (transaction): Promise<StoreHead> =>
      toHead(await transaction.selectFrom('store_version').selectAll().forUpdate().executeTakeFirstOrThrow()),
    notify: async (transaction, version) => {
      await sql`select pg_notify(${changesChannel}, ${String(version)})`.execute(transaction);
    },
    ping: async () => {
      await sql<ColumnRow>`select 1`.execute(regular);
    },
    watch: (onCommit) =>
      watchPostgres({
        connection: patient(settings.timeout),
        settings: settingsWith(settings.timeout),
        onCommit,
        log,
      }),
    close: async () => {
      // Kysely never calls a pool that it has not used.
      const pools = [short, long, counting].map((pool) => pool.end());
      await awaitWithTimeout(Promise.all(pools), closeLimit);
      sockets.destroyAll();
    },
  };
}

/** `create schema if not exists` requires the privilege to create schemas even when the schema exists. */
async function createSchema(transaction: SqlTransaction, schema: string): Promise<void> {
  const { rows } = await sql<ColumnRow>`select 1 from pg_namespace where nspname = ${schema}`.execute(transaction);
  if (rows.length === 0) await transaction.schema.createSchema(schema).execute();
}

function toClientConfig(settings: Settings['pg'], ca: string | null): pg.ClientConfig {
  return {
    host: settings.host,
    port: settings.port,
    user: settings.user,
    database: settings.database,
    ...(settings.password === null ? {} : { password: settings.password }),
    ssl: settings.ssl ? { rejectUnauthorized: settings.sslVerify, ...(ca === null ? {} : { ca }) } : false,
    connectionTimeoutMillis: settings.timeout,
    keepAlive: true,
    application_name: 'sluicegate',
    types: { getTypeParser },
  };
}

/** Versions and timestamps as numbers; JSON as its text, which the store parses itself for both databases. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (oid === bigintType) return Number;
  if (oid === jsonType) return (text) => text;
  return pg.types.getTypeParser(oid, format ?? 'text');
}
