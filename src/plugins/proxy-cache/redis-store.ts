import {
  openRedis,
  type RedisOptions,
  type RedisScript,
  type RedisServer,
  RedisUnavailable,
} from '../../plugin-sdk/index.ts';
import type { AnswerStore, PurgeTarget, StoredEntry } from './answer-store.ts';
import { checksumOf, decodeEntry, encodeMeta, mostMetaBytes, tagText } from './entry-codec.ts';
import { LastLooks } from './last-looks.ts';
import { type FlightWait, RedisFlights } from './redis-flights.ts';
import * as scripts from './redis-scripts.ts';
import { StoreUnavailable } from './store-unavailable.ts';

export interface RedisStoreOptions {
  /** Id of the plugin instance. */
  readonly instance: string;
  /** Bytes of the largest body that is put, and that is taken from the server. */
  readonly maxBytes: number;
}

const root = 'sluicegate:proxy-cache';
/** Entries that one script removes, so that Redis is not held up. */
const removedAtOnce = 200;
/** Bytes that wait for the server at most, and tags of an entry. */
const mostWaiting = 64 * 2 ** 20;
const mostTags = 256;
/** Milliseconds of the longest life: Redis's own limit is beyond what a double holds. */
const longestLife = 10 * 365 * 86_400_000;

/** Answers in a Redis server, for all nodes. Everything rejects with a `StoreUnavailable` while the server does not answer. */
export function redisStore(redis: RedisOptions, options: RedisStoreOptions): AnswerStore {
  return new RedisStore(openRedis(redis), options);
}

class RedisStore implements AnswerStore {
  readonly #server: RedisServer;
  readonly #options: RedisStoreOptions;
  readonly #flights: RedisFlights;
  readonly #looks = new LastLooks();
  #waiting = 0;

  constructor(server: RedisServer, options: RedisStoreOptions) {
    this.#server = server;
    this.#options = options;
    const { instance } = options;
    this.#flights = new RedisFlights(server, (key) => [nameIn(instance, `f:${key}`), this.#entryName(key)]);
  }

  async get(key: string): Promise<StoredEntry | null> {
    const { maxBytes } = this.#options;
    const answer = await this.#run(scripts.getScript, [this.#entryName(key)], [mostMetaBytes, maxBytes]);
    const [meta, body] = Array.isArray(answer) ? (answer as readonly unknown[]) : [];
    this.#looks.saw(key, Buffer.isBuffer(meta) ? checksumOf(meta) : '');
    if (!Buffer.isBuffer(meta) || !Buffer.isBuffer(body)) return null;
    const entry = decodeEntry(meta, body, true);
    return entry === null || entry.expires <= Date.now() ? null : entry;
  }

  async put(key: string, entry: StoredEntry): Promise<boolean> {
    const life = Math.min(longestLife, Math.floor(entry.expires - Date.now()));
    const size = entry.body.length;
    const isTooMuch = size > this.#options.maxBytes || entry.tags.length > mostTags;
    if (!(life > 0) || isTooMuch || this.#waiting + size > mostWaiting) return await this.#putNothing(key);
    const meta = encodeMeta(entry, true);
    if (meta.length > mostMetaBytes) return await this.#putNothing(key);
    const { instance } = this.#options;
    const tags = [...new Set(entry.tags)].map((tag) => this.#tagName(tag));
    const names = [this.#entryName(key), ...indexNames(instance), `${root}:instances`, ...tags];
    const texts = [tagText(entry.tags), `${entry.url}\0${key}`];
    this.#waiting += size;
    try {
      await this.#run(scripts.putScript, names, [key, instance, life, meta, entry.body, ...texts]);
      return true;
    } finally {
      this.#waiting -= size;
    }
  }

  async purge(target: PurgeTarget): Promise<number> {
    const { instance } = this.#options;
    if (target === 'all') return await this.#purgeAll();
    if ('key' in target) return await this.#remove(target.key);
    if ('instance' in target) return await this.#purgePrefix(target.instance, '');
    if ('prefix' in target) return await this.#purgePrefix(instance, target.prefix);
    const names = [this.#tagName(target.tag), ...indexNames(instance)];
    return await this.#inSteps(scripts.removeTaggedScript, names, [nameIn(instance, 'e:'), tagText([target.tag])]);
  }

  async board(key: string, lease: number): Promise<FlightWait | null> {
    try {
      return await this.#flights.board(key, lease, this.#looks);
    } catch (error) {
      throw unavailable(error);
    }
  }

  land(key: string): void {
    this.#flights.land(key);
  }

  close(): void {
    this.#flights.close();
    this.#server.close();
  }

  /** What was there is not what should be any more. */
  async #putNothing(key: string): Promise<false> {
    await this.#remove(key);
    return false;
  }

  async #remove(key: string): Promise<number> {
    const names = [this.#entryName(key), ...indexNames(this.#options.instance)];
    return Number(await this.#run(scripts.removeScript, names, []));
  }

  async #purgeAll(): Promise<number> {
    const answer = await this.#run(scripts.instancesScript, [`${root}:instances`], []);
    let removed = 0;
    for (const id of Array.isArray(answer) ? answer : []) removed += await this.#purgePrefix(String(id), '');
    return removed;
  }

  #purgePrefix(instance: string, prefix: string): Promise<number> {
    return this.#inSteps(scripts.removePrefixedScript, indexNames(instance), [nameIn(instance, 'e:'), prefix]);
  }

  /** Until a step finds less than it might. */
  async #inSteps(script: RedisScript, names: readonly string[], args: readonly string[]): Promise<number> {
    let removed = 0;
    for (;;) {
      const answer = await this.#run(script, names, [...args, removedAtOnce]);
      const [seen, gone] = (answer as readonly unknown[]).map(Number) as [number, number];
      removed += gone;
      if (seen < removedAtOnce) return removed;
    }
  }

  async #run(
    script: RedisScript,
    names: readonly string[],
    args: readonly (string | number | Uint8Array)[],
  ): Promise<unknown> {
    try {
      return await this.#server.run(script, names, args);
    } catch (error) {
      throw unavailable(error);
    }
  }

  #entryName(key: string): string {
    return nameIn(this.#options.instance, `e:${key}`);
  }

  #tagName(tag: string): string {
    return nameIn(this.#options.instance, `t:${tag}`);
  }
}

/** The braces keep what one script touches in one place, should keys ever be spread over servers. */
function nameIn(instance: string, name: string): string {
  return `${root}:{${instance}}:${name}`;
}

function indexNames(instance: string): readonly [string, string] {
  return [nameIn(instance, 'urls'), nameIn(instance, 'ends')];
}

function unavailable(error: unknown): unknown {
  return error instanceof RedisUnavailable ? new StoreUnavailable(error.message) : error;
}
