/** A wish for a share of what may be taken from a counter, in each of some windows. */
export interface LeaseRequest {
  readonly windows: readonly LeaseWindow[];
  /** Granted whole, in part or not at all, from all windows alike; 0 only asks how things stand. */
  readonly wanted: number;
  /** What is granted is a multiple of this: what one request takes. */
  readonly unit: number;
  /** True: granted even beyond the limits. */
  readonly force: boolean;
}

/** One counter: what was taken under a key in the window that began at `windowStart`. */
export interface LeaseWindow {
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly windowStart: number;
  /** Milliseconds after which the counter can be forgotten, by the store's clock: those of the nodes differ. */
  readonly keepFor: number;
  readonly limit: number;
  /** For a sliding window, the one before it and the share of it that is still in sight, from 0 to 1. */
  readonly previous: { readonly windowStart: number; readonly share: number } | null;
}

export interface Lease {
  readonly granted: number;
  /** For each window, taken by all nodes in it, this grant included. */
  readonly used: readonly number[];
  /** For each window, taken in the one before it; 0 unless it slides. */
  readonly before: readonly number[];
}
