import { type StoreStats, ZoneStore } from '../zones/shared-store.ts';
import { controlPlane } from '../zones/store-memory.ts';

export type { StoreStats };

export interface SharedStoreValue {
  /** Anything the plugin wants to know of the body without reading it; what `scan` shows. */
  readonly meta: Uint8Array;
  readonly body: Uint8Array;
  /** Milliseconds since the epoch after which the entry is not found any more; Infinity: never. */
  readonly expires: number;
}

/** A copy of what is in the store. */
export interface StoredValue extends SharedStoreValue {
  readonly meta: Buffer;
  readonly body: Buffer;
  /** Names this very value: another one under the same key has another version. */
  readonly version: number;
}

/** An entry without its body. */
export interface ScannedEntry {
  readonly key: string;
  readonly meta: Buffer;
  readonly bodyBytes: number;
  readonly expires: number;
  readonly version: number;
}

/** Waits at most so many milliseconds. `done`: the leader has landed, or is not trusted any more; `late`: neither. */
export type FlightWait = (milliseconds: number) => Promise<'done' | 'late'>;

/**
 * Entries of bytes in one piece of shared memory, the same for all workers of the node and for the control plane. It never
 * takes more than its zone: what was not asked for lately makes room. Reading takes no lock and waits for nobody; a writer
 * waits some milliseconds at most and then gives up. Nothing throws but `put` with a key that no store can hold. A worker that
 * ends amid any of this leaves the others as they were.
 */
export interface SharedStore {
  /** Null: there is none, or its time is over. */
  get(key: string): StoredValue | null;
  /** Version of what the key has now, 0: nothing. Far cheaper than `get`; counts as no hit. */
  version(key: string): number;
  /** Whether a value that was got is still what its key has. The cheapest of all; true counts as a hit. Time is not looked at. */
  isCurrent(version: number): boolean;
  /**
   * False: it is larger than half of the store, or there was no room or no lock to be had. What the key had before is
   * gone in any case. A TypeError for keys of more than 512 bytes with the namespace, or with characters beyond latin1.
   */
  put(key: string, value: SharedStoreValue): boolean;
  /** False: there was nothing. */
  delete(key: string): boolean;
  /** Deletes this very value, and no newer one. */
  remove(version: number): boolean;
  /**
   * Looks at some slots from `cursor` on (0: the beginning) and shows the namespace's entries in them. Returns the next cursor,
   * or -1 at the end. What is there from begin to end is shown once. Holds up nobody.
   */
  scan(cursor: number, slots: number, visit: (entry: ScannedEntry) => void): number;
  /** Removes all entries that the test names, in steps of about a millisecond between other work. Resolves with their number. */
  removeWhere(test: (entry: ScannedEntry) => boolean): Promise<number>;
  /**
   * Null: the caller leads and calls `land` in the end. Else another thread or request does, and the caller waits. A leader
   * that has not landed after `lease` milliseconds, or whose worker ends, is not waited for any longer.
   */
  board(key: string, lease: number): FlightWait | null;
  land(key: string): void;
  /** Of the whole store, all namespaces. */
  stats(): StoreStats;
}

export interface SharedStoreOptions {
  /** `tools.node.worker`, or `control-plane` in `adminRoutes` and `background`. */
  readonly worker: number | 'control-plane';
  /** Goes before all keys, so that instances which share a zone have entries of their own. Latin1. Default: none. */
  readonly namespace?: string;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number;
}

/** A store in a zone that the plugin declared with `kind: 'store'` and at least 262,144 bytes. Cheap: it is only a view. */
export function sharedStore(memory: SharedArrayBuffer, options: SharedStoreOptions): SharedStore {
  const { worker, namespace = '', now = Date.now } = options;
  return new ZoneStore(memory, { worker: worker === 'control-plane' ? controlPlane : worker, namespace, now });
}
