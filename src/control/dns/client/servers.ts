import { randomInt } from 'node:crypto';
import { monotonic } from '../../../shared/util/time/clock.ts';
import { DnsError } from '../types.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { askOverTcp, askOverUdp, DnsTimeout, type Exchange, type ServerAddress } from './exchange.ts';
import { type DnsMessage, encodeQuestion, readAnswer } from './message.ts';
import type { QueryCounts } from './query-counts.ts';
import type { RecordTypeName } from './record-types.ts';

/** Maximum simultaneous queries: each has a socket. */
const maxQuestions = 128;
/** Milliseconds for which a server that did not answer is queried after the others. */
const distrust = 30_000;

/** Kong's texts for the codes of RFC 1035 4.1.1. */
const codeTexts: Readonly<Record<number, string>> = {
  1: 'format error',
  2: 'server failure',
  3: 'name error',
  4: 'not implemented',
  5: 'refused',
};

export interface QueryOptions {
  readonly servers: readonly ServerAddress[];
  /** Milliseconds for one try. */
  readonly timeout: number;
  /** Rounds over the servers. */
  readonly attempts: number;
  readonly rotate: boolean;
  /** Monotonic time after which no further attempt is made. */
  readonly deadline: number;
}

/** Sends one query to the name servers until one of them answers. */
export class Servers {
  readonly #queries = new ConcurrencyLimit(maxQuestions);
  readonly #distrusted = new Map<string, number>();
  readonly #counts: QueryCounts;
  readonly #signal: AbortSignal;
  #turn = 0;

  constructor(counts: QueryCounts, signal: AbortSignal) {
    this.#counts = counts;
    this.#signal = signal;
  }

  /** An answer with code 0 or 3 (no such name). Everything else rejects with a `DnsError` of kind `failed`. */
  query(name: string, type: RecordTypeName, options: QueryOptions): Promise<DnsMessage> {
    return this.#queries.run(() => this.#query(name, type, options));
  }

  async #query(name: string, type: RecordTypeName, options: QueryOptions): Promise<DnsMessage> {
    let problem = new DnsError('failed', 'dns client error: no time left');
    // A server that answers with a failure is not queried again; a lost message is retried.
    let servers = this.#inOrder(options);
    for (let attempt = 0; attempt < options.attempts && servers.length > 0; attempt++) {
      const silent: ServerAddress[] = [];
      for (const server of servers) {
        const timeout = Math.min(options.timeout, options.deadline - monotonic());
        if (timeout <= 0 || this.#signal.aborted) throw problem;
        try {
          const message = await this.#askServer(server, name, type, timeout);
          if (message.code === 0 || message.code === 3) return message;
          problem = codeError(message.code);
        } catch (error) {
          problem = this.#noAnswer(server, error);
          if (error instanceof DnsTimeout) silent.push(server);
        }
        this.#counts.failures++;
      }
      servers = silent;
    }
    throw problem;
  }

  async #askServer(server: ServerAddress, name: string, type: RecordTypeName, timeout: number): Promise<DnsMessage> {
    const until = monotonic() + timeout;
    const message = await askOverUdp(this.#exchange(server, name, type, timeout));
    this.#distrusted.delete(serverText(server));
    if (!message.truncated) return message;
    this.#counts.truncated++;
    const whole = await askOverTcp(this.#exchange(server, name, type, Math.max(1, until - monotonic())));
    if (whole.truncated) throw new RangeError('an answer that is cut off over TCP, too');
    return whole;
  }

  #exchange(server: ServerAddress, name: string, type: RecordTypeName, timeout: number): Exchange<DnsMessage> {
    const question = encodeQuestion(randomInt(0x10000), name, type);
    if (question === null) throw new RangeError('a name that cannot be asked for');
    this.#counts.queries++;
    return {
      server,
      question,
      timeout,
      signal: this.#signal,
      read: (message) => readAnswer(message, name, type),
      foreign: () => void this.#counts.foreign++,
    };
  }

  #noAnswer(server: ServerAddress, error: unknown): DnsError {
    const place = serverText(server);
    if (error instanceof DnsTimeout) this.#counts.timeouts++;
    // The malformed answer may concern one zone only.
    if (!(error instanceof RangeError)) this.#distrusted.set(place, monotonic() + distrust);
    const text = error instanceof Error ? error.message : String(error);
    return new DnsError('failed', `dns client error: no usable answer from server ${place}: ${text}`, { cause: error });
  }

  #inOrder({ servers, rotate }: QueryOptions): readonly ServerAddress[] {
    const start = rotate ? this.#turn++ % Math.max(1, servers.length) : 0;
    const turned = [...servers.slice(start), ...servers.slice(0, start)];
    if (this.#distrusted.size === 0) return turned;
    const now = monotonic();
    for (const [place, until] of this.#distrusted) if (until <= now) this.#distrusted.delete(place);
    const trusted = (server: ServerAddress): boolean => !this.#distrusted.has(serverText(server));
    return [...turned.filter(trusted), ...turned.filter((server) => !trusted(server))];
  }
}

/** `10.0.0.1:53`, `[::1]:53`. */
export function serverText({ ip, port }: ServerAddress): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function codeError(code: number): DnsError {
  return new DnsError('failed', `dns server error: ${code} ${codeTexts[code] ?? 'unknown'}`);
}
