import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import type { StoreLog } from '../sql-backend.ts';
import { applyToSession, type ConnectionSettings, transactionSettings } from './connection-settings.ts';
import { breaksConnection, isReadOnly, toStoreError } from './postgres-errors.ts';

export interface PoolOptions {
  /** With `query_timeout`: the client waits a little longer than the server, for one that no longer answers at all. */
  readonly connection: pg.ClientConfig;
  /** `user@host:port/database`, for messages. */
  readonly address: string;
  readonly settings: ConnectionSettings;
  readonly size: number;
  readonly log: StoreLog;
  /** Timeout of the first statement of a connection in milliseconds, independent of later statements. */
  readonly setUpTimeout: number;
}

/** How a connection of the pool was made. */
interface Session {
  /** False: a pooler is in between, so each transaction sets what it needs. */
  readonly applied: boolean;
  readonly generation: number;
}

/**
 * `pg`'s pool in the form that Kysely expects. A connection that has failed, or that did not answer within its timeout, is never
 * used again: the answer to the old statement could come as that of the next.
 */
export function createPool(options: PoolOptions): PostgresPool {
  const pool = new pg.Pool({ ...options.connection, max: options.size, allowExitOnIdle: true });
  const sessions = new WeakMap<pg.PoolClient, Session>();
  const begin = transactionSettings(options.settings);
  let generation = 0;
  // The pool drops the connection by itself and makes a new one when needed.
  pool.on('error', (error) => {
    if (!pool.ending) options.log.warn(`lost an idle connection to ${options.address}: ${error.message}`);
  });
  // A connection can be lost while a statement runs on it: the statement's promise rejects, but the pool's own listener is
  // off while it is checked out, and the event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function connect(): Promise<PostgresPoolClient> {
    try {
      for (;;) {
        const client = await pool.connect();
        const known = sessions.get(client);
        if (known === undefined || known.generation === generation) {
          const { applied } = known ?? (await setUp(client));
          return toKyselyClient(client, { address: options.address, begin: applied ? null : begin, forgetOthers });
        }
        client.release(true);
      }
    } catch (error) {
      throw toStoreError(error, options.address);
    }
  }

  async function setUp(client: pg.PoolClient): Promise<Session> {
    try {
      const begun = generation;
      const applied = await applyToSession(client, options.settings, options.setUpTimeout);
      const session = { applied, generation: begun };
      sessions.set(client, session);
      return session;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** After a failover the other connections lead to the same server, which has become read-only. */
  function forgetOthers(error: unknown): void {
    if (isReadOnly(error)) generation += 1;
  }

  return { connect, end: () => pool.end() };
}

interface ClientOptions {
  readonly address: string;
  /** Statements for the begin of each transaction; null: the connection has its settings. */
  readonly begin: string | null;
  /** Called with each error. */
  readonly forgetOthers: (error: unknown) => void;
}

function toKyselyClient(client: pg.PoolClient, { address, begin, forgetOthers }: ClientOptions): PostgresPoolClient {
  let failure: unknown = null;
  let inTransaction = false;

  async function send(sql: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    if (failure !== null) throw failure;
    try {
      return await client.query(sql, [...parameters]);
    } catch (error) {
      const translated = toStoreError(error, address);
      if (breaksConnection(error)) failure = translated;
      forgetOthers(error);
      throw translated;
    }
  }

  /** Several statements in one message, which cannot have parameters. A connection where only some of them ran is not used again. */
  async function beginWith(statement: string): Promise<void> {
    try {
      await send(`${statement};${begin}`, []);
    } catch (error) {
      failure ??= error;
      throw error;
    }
  }

  async function sendThroughPooler(sql: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    const begins = sql === 'begin' || sql.startsWith('start transaction');
    if (begins) {
      await beginWith(sql);
      inTransaction = true;
      return emptyResult;
    }
    if (inTransaction) {
      if (sql === 'commit' || sql === 'rollback') inTransaction = false;
      return await send(sql, parameters);
    }
    await beginWith('begin');
    let result: pg.QueryResult;
    try {
      result = await send(sql, parameters);
    } catch (error) {
      if (failure === null) await send('rollback', []);
      throw error;
    }
    await send('commit', []);
    return result;
  }

  async function query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const { command, rowCount, rows } = await (begin === null ? send : sendThroughPooler)(sql, parameters);
    return { command: command as PostgresQueryResult<R>['command'], rowCount: rowCount ?? 0, rows };
  }

  return { query: query as PostgresPoolClient['query'], release: () => client.release(failure !== null) };
}

const emptyResult = { command: 'BEGIN', rowCount: 0, rows: [], oid: 0, fields: [] } as unknown as pg.QueryResult;
