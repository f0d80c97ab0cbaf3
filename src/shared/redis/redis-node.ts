import type { Redis } from 'ioredis';
import { dropRedis } from './connect.ts';
import { RedisRefusal, RedisUnavailable, reasonOf } from './redis-errors.ts';

/** Milliseconds between attempts to reach an unavailable server: the first pause and the maximum. */
const firstPause = 100;
const maxPause = 2000;

const closed = 'the connection is closed';

export type RedisArguments = readonly (string | number | Uint8Array)[];

/**
 * One connection to one server. Opened with the first command. While the server is known to be unavailable, every command
 * is rejected at once, and attempts to connect run in the background: they delay no request.
 */
export class RedisNode {
  readonly #name: string;
  readonly #open: () => Promise<Redis>;
  #client: Redis | null = null;
  #attempt: Promise<void> | null = null;
  /** Why the server is unavailable; null: it is available. */
  #outage: string | null = null;
  #pause = firstPause;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  /** `name`: for messages. `open` must reject within a time; it is called for each attempt. */
  constructor(name: string, open: () => Promise<Redis>) {
    this.#name = name;
    this.#open = open;
  }

  get isAvailable(): boolean {
    return this.#outage === null && !this.#closed;
  }

  /**
   * Sends commands, one directly after the other, and resolves with the answer to the last; with `binary`, its strings are
   * bytes. Rejects with a `RedisRefusal`, or a `RedisUnavailable` at the latest after the timeouts of the connection.
   */
  send(commands: readonly RedisArguments[], binary: boolean): Promise<unknown> {
    if (this.#client !== null) return this.#sendTo(this.#client, commands, binary);
    if (this.#closed) return Promise.reject(this.#unavailable(closed));
    if (this.#outage !== null) return Promise.reject(this.#unavailable(this.#outage));
    return this.#sendOnceConnected(commands, binary);
  }

  /** Closes the connection, and opens another one in the background. */
  drop(reason: string): void {
    if (this.#client !== null) this.#lost(this.#client, reason);
  }

  close(): void {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
    const client = this.#client;
    this.#client = null;
    if (client !== null) dropRedis(client);
  }

  async #sendOnceConnected(commands: readonly RedisArguments[], binary: boolean): Promise<unknown> {
    this.#attempt ??= this.#connect();
    await this.#attempt;
    if (this.#client === null) throw this.#unavailable(this.#outage ?? closed);
    return await this.#sendTo(this.#client, commands, binary);
  }

  async #sendTo(client: Redis, commands: readonly RedisArguments[], binary: boolean): Promise<unknown> {
    try {
      const answers = commands.map((command) => call(client, binary, command));
      return answers.length === 1 ? await answers[0] : (await Promise.all(answers)).at(-1);
    } catch (error) {
      const reason = reasonOf(error);
      // An error reply leaves the connection open; any other error means that it is lost or hangs.
      if (error instanceof Error && error.name === 'ReplyError') throw new RedisRefusal(reason);
      this.#lost(client, reason);
      throw this.#unavailable(reason);
    }
  }

  /** Never rejects; afterwards there is either a client or a reason. */
  async #connect(): Promise<void> {
    try {
      const client = await this.#open();
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
      this.#markUnavailable(reasonOf(error));
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

  #unavailable(reason: string): RedisUnavailable {
    return new RedisUnavailable(`${this.#name} does not answer: ${reason}`);
  }
}

/** Resolves with the server's answer: strings, or unchanged bytes. */
function call(client: Redis, binary: boolean, command: RedisArguments): Promise<unknown> {
  const [name, ...rest] = command.map(toSend) as [string, ...(string | number | Buffer)[]];
  return binary ? client.callBuffer(name, ...rest) : client.call(name, ...rest);
}

/** The client library would write other byte arrays as lists of numbers. */
function toSend(one: string | number | Uint8Array): string | number | Buffer {
  return one instanceof Uint8Array && !Buffer.isBuffer(one) ? Buffer.from(one.buffer, one.byteOffset, one.length) : one;
}
