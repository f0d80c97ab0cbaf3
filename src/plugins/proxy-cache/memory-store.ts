import { type FlightWait, type ScannedEntry, type SharedStore, sharedStore } from '../../plugin-sdk/index.ts';
import type { AnswerStore, PurgeTarget, StoredEntry } from './answer-store.ts';
import { decodeEntry, encodeMeta, mostMetaBytes, readLabels } from './entry-codec.ts';
import { EntryCopies } from './entry-copies.ts';

export interface MemoryStoreOptions {
  /** `tools.node.worker`, or `control-plane`. */
  readonly worker: number | 'control-plane';
  /** Id of the plugin instance: those that share the memory have entries of their own. */
  readonly instance: string;
}

/** Each worker remembers what it read of late, up to this share of the memory and this many bytes, so that a hit copies nothing. */
const copyShare = 16;
const mostCopies = 8 * 2 ** 20;
/** What an entry takes up beside its bytes. */
const entryBytes = 400;

/** Answers in memory that all workers of the node share. `memory`: a zone of the kind `store`. Entries that it gives are not to be changed. */
export function memoryStore(memory: SharedArrayBuffer, options: MemoryStoreOptions): AnswerStore {
  return new MemoryStore(memory, options);
}

class MemoryStore implements AnswerStore {
  readonly #memory: SharedArrayBuffer;
  readonly #options: MemoryStoreOptions;
  readonly #store: SharedStore;
  readonly #copies: EntryCopies;

  constructor(memory: SharedArrayBuffer, options: MemoryStoreOptions) {
    this.#memory = memory;
    this.#options = options;
    this.#store = this.#open(namespaceOf(options.instance));
    this.#copies = new EntryCopies(Math.min(mostCopies, memory.byteLength / copyShare));
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
    const bytes = value.meta.length * 2 + value.body.length + entryBytes;
    this.#copies.set(key, { version: value.version, entry, bytes });
    return entry;
  }

  put(key: string, entry: StoredEntry): boolean {
    this.#copies.delete(key);
    const meta = encodeMeta(entry, false);
    if (meta.length > mostMetaBytes) {
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

  board(key: string, lease: number): FlightWait | null {
    return this.#store.board(key, lease);
  }

  land(key: string): void {
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
