/** What is kept of one answer. The rules write `head` (a text of their own: status, header block, times, variant) and read it back. */
export interface StoredEntry {
  readonly head: string;
  readonly body: Uint8Array;
  /** Milliseconds since the epoch after which it is of no use at all (freshness + the longest stale use). */
  readonly expires: number;
  /** From Surrogate-Key / Cache-Tag; [] for none. */
  readonly tags: readonly string[];
  /** scheme://host/path?query as stored, for purges by prefix. */
  readonly url: string;
}

/** `done`: the leader has put something or given up; look again. `late`: the wait is over. */
export type FlightEnd = 'done' | 'late';

export type PurgeTarget =
  | { readonly key: string }
  | { readonly tag: string }
  | { readonly prefix: string }
  | { readonly instance: string }
  | 'all';

export interface AnswerStore {
  /** At once where it can be. Keys are 64 hexadecimal digits. Redis failures reject with StoreUnavailable: treat as a miss + Bypass. */
  get(key: string): StoredEntry | null | Promise<StoredEntry | null>;
  /** False: it does not fit. */
  put(key: string, entry: StoredEntry): boolean | Promise<boolean>;
  /** How many entries went. */
  purge(target: PurgeTarget): number | Promise<number>;
  /**
   * Request coalescing over all workers (memory) or nodes (redis). Null: the caller leads and must call `land(key)` in the end; else
   * wait. A leader that dies is followed after `lease` ms.
   */
  board(
    key: string,
    lease: number,
  ): null | ((wait: number) => Promise<FlightEnd>) | Promise<null | ((wait: number) => Promise<FlightEnd>)>;
  land(key: string): void;
  close(): void;
}
