import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LimiterUnavailable, type RedisOptions } from '../../../plugin-sdk/limits.ts';
import { connectRedis, dropRedis } from './redis-connection.ts';

/** Milliseconds between attempts to reach an unavailable server: the first pause and the maximum. */
const firstPause = 100;
const maxPause = 2000;

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
 * the server is known to be unavailable, every script is rejected at once, and reconnection attempts run in the
 * background: they delay no request.
 */
export class RedisLink {
  readonly #options: RedisOptions;
  readonly #address: string;
  #client: Redis | null = null;
  #attempt: Promise<void> | null = null;
  /** Why the server is unavailable; null: it is available. */
  #outage: string | null = null;
  #pause = firstPause;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: RedisOptions) {
    this.#options = options;
    this.#address = `${options.host}:${options.port}`;
  }

  /** Runs a script on some keys. Rejects with a `LimiterUnavailable`, at the latest after the server's timeout. */
  run(script: RedisScript, keys: readonly string[], args: RedisArguments): Promise<unknown> {
    return this.#run(script, keys, args, false);
  }

  /** As `run`; strings in the answer are bytes. */
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
    if (this.#outage !== null) return Promise.reject(this.#unavailable(this.#outage));
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
    if (this.#client === null) throw this.#unavailable(this.#outage ?? closed);
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
      // The server was restarted, or its scripts were flushed.
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

  /** An error reply leaves the connection open; any other error means that it is lost or hangs. */
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
      // An idle connection keeps no process alive; a pending command has a timer that does.
      client.stream?.unref?.();
      this.#client = client;
      this.#outage = null;
      this.#pause = firstPause;
    } catch (error) {
      this.#markUnavailable(messageOf(error));
    } finally {
      this.#attempt = null;
    }
  }

  #lost(client: Redis, reason: string): void {
    if (this.#client !== client) return;
    this.#client = null;
    // Commands that still wait on this connection are rejected at once, not each at its own timeout.
    dropRedis(client);
    this.#markUnavailable(reason);
  }

  #markUnavailable(reason: string): void {
    if (this.#closed) return;
    this.#outage = reason;
    if (this.#retry !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#attempt ??= this.#connect();
    }, this.#pause);
    this.#retry.unref();
    this.#pause = Math.min(maxPause, this.#pause * 2);
  }

  /** Without a `cause`: the client's errors carry the command that failed, and AUTH carries the password. */
  #unavailable(reason: string): LimiterUnavailable {
    return new LimiterUnavailable(`Redis ${this.#address} does not answer: ${reason}`);
  }
}

const links = new Map<string, { readonly link: RedisLink; users: number }>();

/** The purpose of a link: bodies have their own, so that no counter waits for them. */
export type RedisUse = 'counters' | 'bodies';

/** This worker's link to the server with these credentials. Each call needs one call of `releaseRedis`. */
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

/** Resolves with the server's answer: strings, or unchanged bytes. */
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
