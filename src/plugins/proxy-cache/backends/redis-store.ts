import { openRedis, type RedisScript, type RedisServer, RedisUnavailable } from '../../../plugin-kit/net/index.ts';
import type { RedisOptions } from '../../../plugin-sdk/index.ts';
import { checksumOf, decodeEntry, encodeMeta, maxMetaBytes, tagText } from '../store/entry-format.ts';
import {
  type EntryStore,
  type LockWait,
  type PurgeTarget,
  type StoredEntry,
  StoreUnavailable,
} from '../store/entry-store.ts';
import { RedisLocks, SeenChecksums } from './redis-locks.ts';
import * as scripts from './redis-scripts.ts';

export interface RedisStoreOptions {
  /** Id of the plugin instance. */
  readonly instance: string;
  /** Maximum size of a body, in bytes: of those that are stored, and of those that are read from the server. */
  readonly maxBytes: number;
}

const root = 'sluicegate:proxy-cache';
/** Entries that one script removes, so that it does not block Redis for long. */
const purgeBatch = 200;
/** Bytes of bodies that wait to be sent to the server. */
const maxPendingBytes = 64 * 2 ** 20;
const maxTags = 256;
/**
 * Parts of an instance in a cluster, each in one slot: enough to use many nodes, few enough to purge them all by tag or
 * prefix at once.
 */
const clusterPartitions = 64;
/** Milliseconds. Redis accepts longer times, but a double cannot represent them. */
const maxTtl = 10 * 365 * 86_400_000;

/** Responses in Redis, for all nodes. All methods reject with `StoreUnavailable` while it does not respond. */
export function redisStore(redis: RedisOptions, options: RedisStoreOptions): EntryStore {
  return new RedisStore(openRedis(redis), options);
}

class RedisStore implements EntryStore {
  readonly #server: RedisServer;
  readonly #options: RedisStoreOptions;
  readonly #locks: RedisLocks;
  readonly #seen = new SeenChecksums();
  readonly #partitions: number;
  #pendingBytes = 0;
  /** Milliseconds since the epoch until which the instance is in the list of instances. */
  #notedUntil = 0;

  constructor(server: RedisServer, options: RedisStoreOptions) {
    this.#server = server;
    this.#options = options;
    this.#partitions = server.isCluster ? clusterPartitions : 1;
    this.#locks = new RedisLocks(server, (key) => [nameOf(this.#partOf(key), `f:${key}`), this.#entryName(key)]);
  }

  async get(key: string): Promise<StoredEntry | null> {
    const { maxBytes } = this.#options;
    const result = await this.#run(scripts.getScript, [this.#entryName(key)], [maxMetaBytes, maxBytes]);
    const [meta, body] = Array.isArray(result) ? (result as readonly unknown[]) : [];
    this.#seen.add(key, Buffer.isBuffer(meta) ? checksumOf(meta) : '');
    if (!Buffer.isBuffer(meta) || !Buffer.isBuffer(body)) return null;
    const entry = decodeEntry(meta, body, true);
    return entry === null || entry.expires <= Date.now() ? null : entry;
  }

  async put(key: string, entry: StoredEntry): Promise<boolean> {
    const ttl = Math.min(maxTtl, Math.floor(entry.expires - Date.now()));
    const size = entry.body.length;
    const isTooLarge = size > this.#options.maxBytes || entry.tags.length > maxTags;
    if (!(ttl > 0) || isTooLarge || this.#pendingBytes + size > maxPendingBytes) return await this.#putNothing(key);
    const meta = encodeMeta(entry, true);
    if (meta.length > maxMetaBytes) return await this.#putNothing(key);
    const part = this.#partOf(key);
    const tags = [...new Set(entry.tags)].map((tag) => tagName(part, tag));
    const names = [this.#entryName(key), ...indexNames(part), ...tags];
    const texts = [tagText(entry.tags), `${entry.url}\0${key}`];
    this.#pendingBytes += size;
    try {
      // Its key may be on another node of a cluster: an outage there must not keep this one from storing.
      this.#noteInstance(ttl).catch(() => {});
      await this.#run(scripts.putScript, names, [key, ttl, meta, entry.body, ...texts]);
      return true;
    } finally {
      this.#pendingBytes -= size;
    }
  }

  async purge(target: PurgeTarget): Promise<number> {
    const { instance } = this.#options;
    if (target === 'all') return await this.#purgeAll();
    if ('key' in target) return await this.#remove(target.key);
    if ('instance' in target) return await this.#purgePrefix(target.instance, '');
    if ('prefix' in target) return await this.#purgePrefix(instance, target.prefix);
    const { tag } = target;
    return await this.#inParts(instance, (part) =>
      this.#inBatches(
        scripts.removeTaggedScript,
        [tagName(part, tag), ...indexNames(part)],
        [nameOf(part, 'e:'), tagText([tag])],
      ),
    );
  }

  async acquireLock(key: string, lease: number): Promise<LockWait | null> {
    try {
      return await this.#locks.acquire(key, lease, this.#seen);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  releaseLock(key: string): void {
    this.#locks.release(key);
  }

  close(): void {
    this.#locks.close();
    this.#server.close();
  }

  /** The entry does not fit; the previous one is outdated. */
  async #putNothing(key: string): Promise<false> {
    await this.#remove(key);
    return false;
  }

  async #remove(key: string): Promise<number> {
    const names = [this.#entryName(key), ...indexNames(this.#partOf(key))];
    return Number(await this.#run(scripts.removeScript, names, []));
  }

  async #purgeAll(): Promise<number> {
    const result = await this.#run(scripts.instancesScript, [`${root}:instances`], []);
    let removed = 0;
    for (const id of Array.isArray(result) ? result : []) removed += await this.#purgePrefix(String(id), '');
    return removed;
  }

  #purgePrefix(instance: string, prefix: string): Promise<number> {
    return this.#inParts(instance, (part) =>
      this.#inBatches(scripts.removePrefixedScript, indexNames(part), [nameOf(part, 'e:'), prefix]),
    );
  }

  /** Rejects when one part fails, after all others: what can be purged is. */
  async #inParts(instance: string, purge: (part: string) => Promise<number>): Promise<number> {
    const results = await Promise.allSettled(
      Array.from({ length: this.#partitions }, (_, number) => purge(this.#part(instance, number))),
    );
    let total = 0;
    for (const result of results) {
      if (result.status === 'rejected') throw result.reason;
      total += result.value;
    }
    return total;
  }

  /** Rarely writes: each time for twice as long as the entry lives. */
  async #noteInstance(ttl: number): Promise<void> {
    const now = Date.now();
    if (this.#notedUntil >= now + ttl) return;
    await this.#run(scripts.noteInstanceScript, [`${root}:instances`], [this.#options.instance, 2 * ttl]);
    this.#notedUntil = now + 2 * ttl;
  }

  /** Runs the script until it finds fewer entries than a batch. */
  async #inBatches(script: RedisScript, names: readonly string[], args: readonly string[]): Promise<number> {
    let total = 0;
    for (;;) {
      const result = await this.#run(script, names, [...args, purgeBatch]);
      const [seen, removed] = (result as readonly unknown[]).map(Number) as [number, number];
      total += removed;
      if (seen < purgeBatch) return total;
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
      throw asUnavailable(error);
    }
  }

  #entryName(key: string): string {
    return nameOf(this.#partOf(key), `e:${key}`);
  }

  #partOf(key: string): string {
    return this.#part(this.#options.instance, Number.parseInt(key.slice(0, 4), 16) % this.#partitions);
  }

  #part(instance: string, number: number): string {
    return this.#partitions === 1 ? instance : `${instance}/${number}`;
  }
}

/** The braces are a hash tag: all keys of a script are in one slot of a cluster. */
function nameOf(part: string, name: string): string {
  return `${root}:{${part}}:${name}`;
}

function tagName(part: string, tag: string): string {
  return nameOf(part, `t:${tag}`);
}

function indexNames(part: string): readonly [string, string] {
  return [nameOf(part, 'urls'), nameOf(part, 'ends')];
}

function asUnavailable(error: unknown): unknown {
  return error instanceof RedisUnavailable ? new StoreUnavailable(error.message) : error;
}
