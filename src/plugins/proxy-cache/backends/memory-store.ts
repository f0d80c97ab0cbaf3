import { sharedStore } from '../../../plugin-kit/shared-memory/index.ts';
import type { ScannedEntry, SharedStore } from '../../../plugin-sdk/index.ts';
import { decodeEntry, encodeMeta, maxMetaBytes, readLabels } from '../store/entry-format.ts';
import type { EntryStore, LockWait, PurgeTarget, StoredEntry } from '../store/entry-store.ts';

export interface MemoryStoreOptions {
  /** `tools.node.worker`, or `control-plane`. */
  readonly worker: number | 'control-plane';
  /** Id of the plugin instance: instances that share the memory have separate entries. */
  readonly instance: string;
}

/**
 * Each worker keeps copies of the entries that it read recently, so that a hit copies nothing: at most this fraction of the
 * memory, and at most so many bytes.
 */
const copiesDivisor = 16;
const maxCopiesBytes = 8 * 2 ** 20;
/** Estimated size of an entry in addition to its bytes. */
const entryOverhead = 400;

/**
 * Responses in memory that all workers of the node share. `memory`: a zone of the kind `store`.
 * Callers must not change the entries that it returns.
 */
export function memoryStore(memory: SharedArrayBuffer, options: MemoryStoreOptions): EntryStore {
  return new MemoryStore(memory, options);
}

class MemoryStore implements EntryStore {
  readonly #memory: SharedArrayBuffer;
  readonly #options: MemoryStoreOptions;
  readonly #store: SharedStore;
  readonly #copies: EntryCopies;

  constructor(memory: SharedArrayBuffer, options: MemoryStoreOptions) {
    this.#memory = memory;
    this.#options = options;
    this.#store = this.#open(namespaceOf(options.instance));
    this.#copies = new EntryCopies(Math.min(maxCopiesBytes, memory.byteLength / copiesDivisor));
  }

  get(key: string): StoredEntry | null {
    const copy = this.#copies.get(key);
    if (copy !== undefined) {
      if (copy.entry.expires > Date.now() && this.#store.isCurrent(copy.version)) return copy.entry;
      this.#copies.delete(key);
    }
    const value = this.#store.get(key);
    if (value === null) return null;
    const entry = decodeEntry(value.meta, value.body, false);
    if (entry === null) return null;
    const bytes = value.meta.length * 2 + value.body.length + entryOverhead;
    this.#copies.set(key, { version: value.version, entry, bytes });
    return entry;
  }

  put(key: string, entry: StoredEntry): boolean {
    this.#copies.delete(key);
    const meta = encodeMeta(entry, false);
    if (meta.length > maxMetaBytes) {
      this.#store.delete(key);
      return false;
    }
    return this.#store.put(key, { meta, body: entry.body, expires: entry.expires });
  }

  purge(target: PurgeTarget): number | Promise<number> {
    if (target === 'all') return this.#open('').removeWhere(any);
    if ('key' in target) return this.#store.delete(target.key) ? 1 : 0;
    if ('instance' in target) return this.#open(namespaceOf(target.instance)).removeWhere(any);
    if ('tag' in target) return this.#store.removeWhere(({ meta }) => readLabels(meta).tags.includes(target.tag));
    return this.#store.removeWhere(({ meta }) => readLabels(meta).url.startsWith(target.prefix));
  }

  acquireLock(key: string, lease: number): LockWait | null {
    return this.#store.board(key, lease);
  }

  releaseLock(key: string): void {
    this.#store.land(key);
  }

  close(): void {
    this.#copies.clear();
  }

  #open(namespace: string): SharedStore {
    return sharedStore(this.#memory, { worker: this.#options.worker, namespace });
  }
}

function namespaceOf(instance: string): string {
  return `${instance}/`;
}

function any(_: ScannedEntry): boolean {
  return true;
}

/** An entry as this worker has read it. */
interface EntryCopy {
  /** Identifies the entry in the store. */
  readonly version: number;
  readonly entry: StoredEntry;
  /** Estimated size. */
  readonly bytes: number;
}

/**
 * The entries that this worker read recently, bounded in bytes. There are two generations: when the young one reaches half
 * of the bytes it becomes the old one, and entries that are still requested move to the new young one.
 */
class EntryCopies {
  readonly #maxYoungBytes: number;
  #young = new Map<string, EntryCopy>();
  #old = new Map<string, EntryCopy>();
  #youngBytes = 0;

  constructor(bytes: number) {
    this.#maxYoungBytes = bytes / 2;
  }

  get(key: string): EntryCopy | undefined {
    const copy = this.#young.get(key);
    if (copy !== undefined) return copy;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  /** An entry of more than a quarter of the bytes is not kept. */
  set(key: string, copy: EntryCopy): void {
    this.delete(key);
    if (copy.bytes * 2 > this.#maxYoungBytes) return;
    this.#young.set(key, copy);
    this.#youngBytes += copy.bytes;
    if (this.#youngBytes <= this.#maxYoungBytes) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }

  delete(key: string): void {
    this.#old.delete(key);
    const copy = this.#young.get(key);
    if (copy === undefined) return;
    this.#young.delete(key);
    this.#youngBytes -= copy.bytes;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngBytes = 0;
  }
}
