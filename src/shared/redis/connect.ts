import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Redis } from 'ioredis';
import type { RedisOptions } from '../../plugin-sdk/redis-options.ts';
import { reasonOf } from './redis-errors.ts';

/** Address of one server. */
export interface RedisEndpoint {
  readonly host: string;
  readonly port: number;
}

/** The endpoint as one text, `host:port`. */
export function addressOf({ host, port }: RedisEndpoint): string {
  return `${host}:${port}`;
}

/** One connection: its server, its user, and how long it may take. */
export interface RedisConnectionOptions {
  readonly endpoint: RedisEndpoint;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  readonly tls: RedisTls | null;
  /** Milliseconds until the server has answered a command. */
  readonly connectTimeout: number;
  /** Milliseconds of each command. */
  readonly commandTimeout: number;
}

export interface RedisTls {
  readonly verify: boolean;
  /** Replaces the host, in the handshake and in the verification. */
  readonly serverName: string | null;
  /** PEM file of the authorities; null: those built into Node. */
  readonly trustedCertificates: string | null;
}

/** Of a configuration, for one of its servers. */
export function connectionTo(endpoint: RedisEndpoint, options: RedisOptions): RedisConnectionOptions {
  return {
    endpoint,
    username: options.username,
    password: options.password,
    database: options.database,
    tls: options.ssl
      ? {
          verify: options.ssl_verify,
          serverName: options.server_name,
          trustedCertificates: options.trustedCertificates ?? null,
        }
      : null,
    connectTimeout: connectTimeoutOf(options),
    commandTimeout: commandTimeoutOf(options),
  };
}

export function connectTimeoutOf({ connect_timeout: connect, timeout }: RedisOptions): number {
  return connect ?? timeout;
}

/** The wait for an answer begins when the command is handed to the socket, so the longer of both times bounds it. */
export function commandTimeoutOf({ send_timeout: send, read_timeout: read, timeout }: RedisOptions): number {
  return Math.max(send ?? 0, read ?? 0) || timeout;
}

/**
 * Opens a connection and checks that the server answers: one that hangs still accepts connections. `check` runs within
 * the same time; what it throws is the reason of the rejection. The connection never reconnects by itself, and no
 * command waits for one or is sent twice: a script that counts would count twice.
 */
export async function connectRedis(
  options: RedisConnectionOptions,
  check?: (client: Redis) => Promise<void>,
): Promise<Redis> {
  const { endpoint, connectTimeout } = options;
  const [{ Redis }, tls] = await Promise.all([import('ioredis'), tlsOptions(options)]);
  const client = new Redis({
    ...endpoint,
    connectTimeout,
    commandTimeout: options.commandTimeout,
    ...(tls === null ? {} : { tls }),
    protocol: 2,
    lazyConnect: true,
    retryStrategy: null,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    connectionName: 'sluicegate',
  });
  let cause: Error | null = null;
  // Also after the promises have settled: an `error` event without a listener would end the worker.
  client.on('error', (error: Error) => {
    cause ??= error;
  });
  let overdue = false;
  const deadline = setTimeout(() => {
    overdue = true;
    dropRedis(client);
  }, connectTimeout);
  try {
    await client.connect();
    await authenticate(client, options);
    await check?.(client);
    return client;
  } catch (error) {
    dropRedis(client);
    if (overdue) throw new Error(`no answer within ${connectTimeout} ms`);
    throw new Error(withoutSecret(reasonOf(cause ?? error), options.password));
  } finally {
    clearTimeout(deadline);
  }
}

/** Closes the connection at once, without waiting for the server to close its side: one that hangs never does. */
export function dropRedis(client: Redis): void {
  client.disconnect();
  client.stream?.destroy();
}

/** Not left to the client library, which writes some rejections to the console and continues. */
async function authenticate(client: Redis, options: RedisConnectionOptions): Promise<void> {
  const { username, password, database } = options;
  if (password !== null && password !== '') {
    if (username === null || username === '') await client.auth(password);
    else await client.auth(username, password);
  }
  if (database !== 0) await client.select(database);
  await client.ping();
}

/** A server that does not know a command may repeat its arguments. */
function withoutSecret(reason: string, password: string | null): string {
  if (password === null || password === '' || !reason.includes(password)) return reason;
  return `the server refuses the password (${/^[A-Z]+(?= )/.exec(reason)?.[0] ?? 'ERR'})`;
}

async function tlsOptions({ endpoint, tls }: RedisConnectionOptions): Promise<ConnectionOptions | null> {
  if (tls === null) return null;
  const name = tls.serverName ?? endpoint.host;
  const file = tls.verify ? tls.trustedCertificates : null;
  return {
    rejectUnauthorized: tls.verify,
    ...(file === null ? {} : { ca: await readFile(file) }),
    // RFC 6066 section 3: addresses are not server names.
    ...(name === '' || isIP(name) !== 0 ? {} : { servername: name }),
  };
}
