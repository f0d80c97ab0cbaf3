import { isIP } from 'node:net';
import type { Redis } from 'ioredis';
import type { RedisOptions } from '../../../plugin-sdk/limits.ts';

/**
 * Opens a connection to the server and checks that it answers: a server that hangs still accepts connections. Rejects
 * when that takes longer than `options.timeout`. The connection never reconnects by itself, and no command is sent
 * twice: a script that counts would count twice.
 */
export async function connectRedis(options: RedisOptions): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const client = new Redis({
    host: options.host ?? 'localhost',
    port: options.port,
    connectTimeout: options.timeout,
    commandTimeout: options.timeout,
    ...(options.ssl ? { tls: tlsOptions(options) } : {}),
    protocol: 2,
    lazyConnect: true,
    retryStrategy: null,
    enableReadyCheck: false,
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
  }, options.timeout);
  try {
    await client.connect();
    await authenticate(client, options);
    return client;
  } catch (error) {
    dropRedis(client);
    if (overdue) throw new Error(`no answer within ${options.timeout} ms`);
    throw cause ?? error;
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
async function authenticate(client: Redis, { username, password, database }: RedisOptions): Promise<void> {
  if (password !== null && password !== '') {
    if (username === null || username === '') await client.auth(password);
    else await client.auth(username, password);
  }
  if (database !== 0) await client.select(database);
  await client.ping();
}

function tlsOptions({ host, server_name: serverName, ssl_verify: verify }: RedisOptions): {
  rejectUnauthorized: boolean;
  servername?: string;
} {
  const name = serverName ?? host ?? '';
  // RFC 6066 section 3: addresses are not server names.
  return { rejectUnauthorized: verify, ...(name === '' || isIP(name) !== 0 ? {} : { servername: name }) };
}
