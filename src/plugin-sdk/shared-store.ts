/** Fill and use of a whole store, all namespaces. Totals count from the creation of the zone. */
export interface StoreStats {
  /** Size of the zone. */
  readonly bytes: number;
  /** Maximum number of entries, each of one page. */
  readonly slots: number;
  /** Entries that are stored, expired ones included. */
  readonly used: number;
  /** Bytes for entries. */
  readonly capacity: number;
  /** Bytes of `capacity` that are in use. */
  readonly taken: number;
  /** Entries that were evicted before they expired. */
  readonly evictions: number;
  readonly hits: number;
  readonly misses: number;
}

/** What `put` stores. */
export interface SharedStoreValue {
  /** What the plugin needs to know of the body without reading it. `scan` shows it. */
  readonly meta: Uint8Array;
  readonly body: Uint8Array;
  /** Milliseconds since the epoch after which the entry is not found; Infinity: never. */
  readonly expires: number;
}

/** A copy of an entry. */
export interface StoredValue extends SharedStoreValue {
  readonly meta: Buffer;
  readonly body: Buffer;
  /** Identifies this value: another value of the same key has another version. */
  readonly version: number;
}

/** An entry without its body. */
export interface ScannedEntry {
  readonly key: string;
  readonly meta: Buffer;
  readonly bodyBytes: number;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly version: number;
}

/** Waits at most this time. `done`: the leader has called `land`, or its lease is over. `late`: neither. */
export type FlightWait = (milliseconds: number) => Promise<'done' | 'late'>;

/**
 * Entries of bytes in a zone of the kind `store`, shared by all workers of the node and the control plane. It never grows
 * beyond its zone: the least recently used entries are evicted. Reads take no lock; a writer waits for some milliseconds at
 * most and then gives up. A worker that ends at any point leaves the store intact. Opened with `sharedStore` of
 * `plugin-kit/shared-memory`.
 *
 * @example
 * const store = sharedStore(tools.zone('answers'), { worker: tools.node.worker });
 * const found = store.get(key);
 * if (found === null) store.put(key, { meta: noBytes, body, expires: Date.now() + 60_000 });
 */
export interface SharedStore {
  /** Null: there is no such entry, or it has expired. */
  get(key: string): StoredValue | null;
  /** Version of the entry; 0: there is none. Far cheaper than `get`; counts as neither hit nor miss. */
  version(key: string): number;
  /** True: the value of this version is still the value of its key, whether or not it has expired. Cheapest; counts as a hit. */
  isCurrent(version: number): boolean;
  /**
   * Replaces the entry. False: it is larger than half of the store, or there was no room or no lock; the old entry is deleted
   * all the same.
   *
   * @throws TypeError for a key over 512 bytes with its namespace, or with characters beyond latin1.
   */
  put(key: string, value: SharedStoreValue): boolean;
  /** False: there was no entry. */
  delete(key: string): boolean;
  /** Deletes the value of this version, and no newer one. */
  remove(version: number): boolean;
  /**
   * Visits the namespace's entries in the next slots from `cursor` (0: the first). Returns the next cursor; -1: the end. An
   * entry that is there from the first call to the last is visited once.
   */
  scan(cursor: number, slots: number, visit: (entry: ScannedEntry) => void): number;
  /** Deletes all entries that match, in steps of about a millisecond between other work. Resolves with their number. */
  removeWhere(test: (entry: ScannedEntry) => boolean): Promise<number>;
  /**
   * Coordinates requests that need the same entry, so that one fetches it for all. Null: this caller leads; it fetches, and
   * calls `land` in any case. Otherwise another caller leads, in any worker, and the function waits for it. The lead ends with
   * `land`, after `lease` milliseconds, or with its worker.
   *
   * @example
   * const wait = store.board(key, 5000);
   * if (wait !== null) await wait(1000);
   */
  board(key: string, lease: number): FlightWait | null;
  land(key: string): void;
  stats(): StoreStats;
}

/** For `sharedStore` of `plugin-kit/shared-memory`. */
export interface SharedStoreOptions {
  /** `tools.node.worker`; `control-plane` in `adminRoutes` and `background`. */
  readonly worker: number | 'control-plane';
  /** Prefix of all keys, so that instances can share a zone; latin1. Default: ''. */
  readonly namespace?: string;
  /** Clock in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}
