/** A request for a share of a counter, in each of some windows. */
export interface LeaseRequest {
  readonly windows: readonly LeaseWindow[];
  /** Granted in full, in part or not at all, from all windows alike; 0 only returns the counts. */
  readonly wanted: number;
  /** The grant is a multiple of this: the cost of one request. */
  readonly unit: number;
  /** True: granted even above the limits. */
  readonly force: boolean;
}

/** One counter: what was taken under a key in the window that began at `windowStart`. */
export interface LeaseWindow {
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly windowStart: number;
  /** Milliseconds after which the counter can be deleted, by the store's clock: those of the nodes differ. */
  readonly keepFor: number;
  readonly limit: number;
  /** For a sliding window, the previous one and the fraction of it that still counts, from 0 to 1. */
  readonly previous: { readonly windowStart: number; readonly share: number } | null;
}

export interface Lease {
  readonly granted: number;
  /** For each window, taken by all nodes in it, this grant included. */
  readonly used: readonly number[];
  /** For each window, taken in the previous one; 0 unless it slides. */
  readonly before: readonly number[];
}

/** What limiters need from their worker. */
export interface LimitHost {
  /** Number of the worker, from 0. */
  readonly worker: number;
  /** Memory of a zone of the plugin. */
  zone(name: string): SharedArrayBuffer;
  /** Requests quotas of counters in the relational store from the control plane. */
  lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]>;
}
