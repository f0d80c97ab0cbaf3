import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LimiterUnavailable, type RedisOptions } from '../../plugin-sdk/limits.ts';
import { connectRedis, dropRedis } from './redis-connection.ts';

/** Milliseconds between attempts to reach a server that is away: the first pause and the longest. */
const firstPause = 100;
const longestPause = 2000;

const closed = 'the limiter is closed';

type RedisArguments = readonly (string | number | Uint8Array)[];

export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

export function redisScript(lua: string): RedisScript {
  return Object.freeze({ lua, sha: createHash('sha1').update(lua).digest('hex') });
}

/**
 * This worker's connection to one Redis server, shared by all limiters that use it. Opened with the first script. While
 * the server is known to be away every script is refused at once, and attempts to reach it go on in the background: no
 * request pays for them.
 */
export class RedisLink {
  readonly #options: RedisOptions;
  readonly #address: string;
  #client: Redis | null = null;
  #attempt: Promise<void> | null = null;
  /** Why the server is known to be away; null: it is not. */
  #away: string | null = null;
  #pause = firstPause;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: RedisOptions) {
    this.#options = options;
    this.#address = `${options.host}:${options.port}`;
  }

  /** Runs a script on some keys. Rejects with a `LimiterUnavailable`, at the latest after the server's time-out. */
  run(script: RedisScript, keys: readonly string[], args: RedisArguments): Promise<unknown> {
    return this.#run(script, keys, args, false);
  }

  /** As `run`; texts of the answer are bytes. */
  runBinary(script: RedisScript, keys: readonly string[], args: RedisArguments): Promise<unknown> {
    return this.#run(script, keys, args, true);
  }

  close(): void {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
    const client = this.#client;
    this.#client = null;
    if (client !== null) dropRedis(client);
  }

  #run(script: RedisScript, keys: readonly string[], args: RedisArguments, binary: boolean): Promise<unknown> {
    if (this.#client !== null) return this.#evaluate(this.#client, script, keys, args, binary);
    if (this.#closed) return Promise.reject(this.#unavailable(closed));
    if (this.#away !== null) return Promise.reject(this.#unavailable(this.#away));
    return this.#runOnceConnected(script, keys, args, binary);
  }

  async #runOnceConnected(
    script: RedisScript,
    keys: readonly string[],
    args: RedisArguments,
    binary: boolean,
  ): Promise<unknown> {
    this.#attempt ??= this.#connect();
    await this.#attempt;
    if (this.#client === null) throw this.#unavailable(this.#away ?? closed);
    return await this.#evaluate(this.#client, script, keys, args, binary);
  }

  async #evaluate(
    client: Redis,
    { sha, lua }: RedisScript,
    keys: readonly string[],
    args: RedisArguments,
    binary: boolean,
  ): Promise<unknown> {
    try {
      return await send(client, binary, ['EVALSHA', sha, keys.length, ...keys, ...args]);
    } catch (error) {
      // The server was started anew, or its scripts were flushed.
      if (isReply(error, 'NOSCRIPT')) {
        return await this.#evaluateWhole(client, binary, ['EVAL', lua, keys.length, ...keys, ...args]);
      }
      throw this.#failed(client, error);
    }
  }

  async #evaluateWhole(client: Redis, binary: boolean, command: RedisArguments): Promise<unknown> {
    try {
      return await send(client, binary, command);
    } catch (error) {
      throw this.#failed(client, error);
    }
  }

  /** An error that the server sent leaves the connection as it is; anything else means that it is lost or hangs. */
  #failed(client: Redis, error: unknown): LimiterUnavailable {
    const reason = messageOf(error);
    if (!isReply(error, '')) this.#lost(client, reason);
    return this.#unavailable(reason);
  }

  /** Never rejects; afterwards there is either a client or a reason. */
  async #connect(): Promise<void> {
    try {
      const client = await connectRedis(this.#options);
      if (this.#closed) {
        dropRedis(client);
        return;
      }
      client.once('close', () => this.#lost(client, 'the server closed the connection'));
      // An idle connection keeps no process alive; a command that waits has a timer that does.
      client.stream?.unref?.();
      this.#client = client;
      this.#away = null;
      this.#pause = firstPause;
    } catch (error) {
      this.#stayAway(messageOf(error));
    } finally {
      this.#attempt = null;
    }
  }

  #lost(client: Redis, reason: string): void {
    if (this.#client !== client) return;
    this.#client = null;
    // What still waits on this connection is rejected at once, rather than each at its own time-out.
    dropRedis(client);
    this.#stayAway(reason);
  }

  #stayAway(reason: string): void {
    if (this.#closed) return;
    this.#away = reason;
    if (this.#retry !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#attempt ??= this.#connect();
    }, this.#pause);
    this.#retry.unref();
    this.#pause = Math.min(longestPause, this.#pause * 2);
  }

  /** Without a `cause`: the client's errors carry the command that failed, and AUTH carries the password. */
  #unavailable(reason: string): LimiterUnavailable {
    return new LimiterUnavailable(`Redis ${this.#address} does not answer: ${reason}`);
  }
}

const links = new Map<string, { readonly link: RedisLink; users: number }>();

/** What a link is for: bodies have one of their own, so that no counter waits for them. */
export type RedisUse = 'counters' | 'bodies';

/** The link to this server, with these credentials, of this worker. Every call asks for one of `releaseRedis`. */
export function acquireRedis(options: RedisOptions, use: RedisUse = 'counters'): RedisLink {
  const identity = identityOf(options, use);
  let held = links.get(identity);
  if (held === undefined) {
    held = { link: new RedisLink(options), users: 0 };
    links.set(identity, held);
  }
  held.users++;
  return held.link;
}

export function releaseRedis(options: RedisOptions, use: RedisUse = 'counters'): void {
  const identity = identityOf(options, use);
  const held = links.get(identity);
  if (held === undefined || --held.users > 0) return;
  links.delete(identity);
  held.link.close();
}

/** Resolves with the server's answer: texts as strings, or as they are. */
function send(client: Redis, binary: boolean, command: RedisArguments): Promise<unknown> {
  const [name, ...rest] = command.map(toSend) as [string, ...(string | number | Buffer)[]];
  return binary ? client.callBuffer(name, ...rest) : client.call(name, ...rest);
}

/** The client library would write other byte arrays as lists of numbers. */
function toSend(one: string | number | Uint8Array): string | number | Buffer {
  return one instanceof Uint8Array && !Buffer.isBuffer(one) ? Buffer.from(one.buffer, one.byteOffset, one.length) : one;
}

function identityOf(options: RedisOptions, use: RedisUse): string {
  const { host, port, timeout, username, password, database, ssl, ssl_verify: verify, server_name: name } = options;
  return JSON.stringify([use, host, port, timeout, username, password, database, ssl, verify, name]);
}

function isReply(error: unknown, code: string): error is Error {
  return error instanceof Error && error.name === 'ReplyError' && error.message.startsWith(code);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
