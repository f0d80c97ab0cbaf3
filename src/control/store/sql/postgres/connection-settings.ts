import pg from 'pg';

/** What each statement of a connection runs with. */
export interface ConnectionSettings {
  /** Null: the default of the user. */
  readonly schema: string | null;
  /** Milliseconds after which the server ends a statement. */
  readonly statementTimeout: number;
  /** Milliseconds after which the server ends a transaction whose client is silent: it would block all writers. */
  readonly idleTimeout: number;
  /** False: a commit does not wait for the disk. */
  readonly durable: boolean;
}

/** Their names and values in PostgreSQL. */
function valuesOf({ schema, statementTimeout, idleTimeout, durable }: ConnectionSettings): [string, string][] {
  return [
    ...(schema === null ? [] : [['search_path', pg.escapeIdentifier(schema)] as [string, string]]),
    ['statement_timeout', String(statementTimeout)],
    ['idle_in_transaction_session_timeout', String(idleTimeout)],
    ...(durable ? [] : [['synchronous_commit', 'off'] as [string, string]]),
  ];
}

/**
 * Applies the settings to a new connection, unless a pooler such as PgBouncer is in between: with it the next statement may run on another
 * connection, and other clients may get this one. Returns whether it has applied them.
 *
 * A pooler gives its clients process ids of its own, so they differ from that of the server's process. A startup parameter could not
 * be used instead: PgBouncer refuses a connection with one that it does not know.
 */
export async function applyToSession(
  client: pg.ClientBase,
  settings: ConnectionSettings,
  timeout: number,
): Promise<boolean> {
  const given = Number('processID' in client ? client.processID : Number.NaN);
  const apply = valuesOf(settings).map(
    ([name, value]) => `case when direct then set_config('${name}', ${pg.escapeLiteral(value)}, false) end`,
  );
  // Evaluated for the one row, so a setting changes only on a direct connection.
  const text = `select direct, ${apply.join(', ')} from (select pg_backend_pid() = ${Number.isInteger(given) ? given : -1} as direct) as one`;
  const statement: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: timeout };
  const { rows } = await client.query<{ direct: boolean }>(statement);
  return rows[0]?.direct === true;
}

/** Statements at the begin of a transaction, after which they hold until its end, through a pooler too. */
export function transactionSettings(settings: ConnectionSettings): string {
  return valuesOf(settings)
    .map(([name, value]) => `set local ${name} to ${name === 'search_path' ? value : pg.escapeLiteral(value)}`)
    .join(';');
}
