/**
 * A request for units of some counters. What is `wanted` is granted in full, in part or not at all, from all windows alike; what a
 * window asks for `ahead` is granted for itself.
 */
export interface LeaseRequest {
  readonly windows: readonly LeaseWindow[];
  /** 0 only returns the counts, unless something is requested ahead. With `force` negative: units that are given back. */
  readonly wanted: number;
  /** The grant is a multiple of this: the cost of one request. */
  readonly unit: number;
  /** True: granted even above the limits. */
  readonly force: boolean;
  /** Fraction of what `wanted` leaves in a window that the node can hold afterwards by what is granted ahead, from 0 to 1. Default: 0. */
  readonly share?: number;
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
  /** Units of earlier leases that the node uses first for what it wants. They are counted already. Default: 0. */
  readonly held?: number;
  /** Units that the node would like in addition, for requests that it expects. Default: 0. */
  readonly ahead?: number;
}

export interface Lease {
  readonly granted: number;
  /** For each window, taken by all nodes in it, this grant included. */
  readonly used: readonly number[];
  /** For each window, taken in the previous one; 0 unless it slides. */
  readonly before: readonly number[];
  /** For each window, what this lease took: the grant without what was held, and what was granted ahead. Default: `granted`. */
  readonly taken?: readonly number[];
  /** Number of nodes that carry requests, when the control plane of the node knows it. */
  readonly nodes?: number;
}

/** What limiters need from their worker. */
export interface LimitHost {
  /** Number of the worker, from 0. */
  readonly worker: number;
  /** Memory of a zone of the plugin. */
  zone(name: string): SharedArrayBuffer;
  /** Requests units of counters in the relational store from the control plane. */
  lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]>;
}
