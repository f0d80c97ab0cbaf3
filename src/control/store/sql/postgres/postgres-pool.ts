import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import type { StoreLog } from '../sql-backend.ts';
import { breaksConnection, toStoreError } from './postgres-errors.ts';

export interface PoolOptions {
  readonly connection: pg.ClientConfig;
  /** `user@host:port/database`, for messages. */
  readonly address: string;
  readonly schema: string | null;
  readonly size: number;
  readonly log: StoreLog;
  /** A statement for each new connection. */
  readonly setUp?: string;
  /** Timeout of that statement in milliseconds, independent of later statements. */
  readonly setUpTimeout: number;
}

/**
 * `pg`'s pool in the form that Kysely expects. A connection that has failed, or that did not answer within its timeout, is never
 * used again: the answer to the old statement could come as that of the next.
 */
export function createPool(options: PoolOptions): PostgresPool {
  const pool = new pg.Pool({ ...options.connection, max: options.size, allowExitOnIdle: true });
  const prepared = new WeakSet<pg.PoolClient>();
  // The pool drops the connection by itself and makes a new one when needed.
  pool.on('error', (error) => {
    if (!pool.ending) options.log.warn(`lost an idle connection to ${options.address}: ${error.message}`);
  });
  // A connection can be lost while a statement runs on it: the statement's promise rejects, but the pool's own listener is
  // off while it is checked out, and the event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function connect(): Promise<PostgresPoolClient> {
    try {
      const client = await pool.connect();
      if (!prepared.has(client)) await prepare(client);
      return toKyselyClient(client, options.address);
    } catch (error) {
      throw toStoreError(error, options.address);
    }
  }

  async function prepare(client: pg.PoolClient): Promise<void> {
    try {
      const text = [searchPath(options.schema), options.setUp ?? ''].join(';');
      const statement: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: options.setUpTimeout };
      await client.query(statement);
      prepared.add(client);
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  return { connect, end: () => pool.end() };
}

export function searchPath(schema: string | null): string {
  return schema === null ? 'select 1' : `set search_path to ${pg.escapeIdentifier(schema)}`;
}

function toKyselyClient(client: pg.PoolClient, address: string): PostgresPoolClient {
  let failure: unknown = null;

  async function query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    if (failure !== null) throw failure;
    try {
      const { command, rowCount, rows } = await client.query(sql, [...parameters]);
      return { command: command as PostgresQueryResult<R>['command'], rowCount: rowCount ?? 0, rows };
    } catch (error) {
      const translated = toStoreError(error, address);
      if (breaksConnection(error)) failure = translated;
      throw translated;
    }
  }

  return { query: query as PostgresPoolClient['query'], release: () => client.release(failure !== null) };
}
