/** A window as it was when something was requested for it, and what the node holds of it. */
export interface HeldWindow {
  readonly start: number;
  readonly end: number;
  readonly held: number;
  /** The count of all nodes, as far as it was known. */
  readonly known: number;
  /** Wanted in addition, for requests that are expected. */
  readonly ahead: number;
}

/** Units that were taken out of a window of the node. */
export interface Surplus {
  /** Index of the limit. */
  readonly at: number;
  readonly start: number;
  readonly amount: number;
}

/** One window, and the counts of all nodes without what this node holds. */
export interface SeenWindow {
  start: number;
  end: number;
  used: number;
  before: number;
}

export interface Waiting {
  readonly cost: number;
  /** With the counts after it. */
  readonly serve: (windows: readonly SeenWindow[], now: number) => void;
}

/** The outcome of a lease. */
export interface Credited {
  readonly unserved: readonly Waiting[];
  readonly surplus: readonly Surplus[];
  /** The node has units of the key now. */
  readonly holds: boolean;
  /** The counts after it. */
  readonly windows: readonly SeenWindow[];
  readonly now: number;
}

/** What is seen of the windows while the node holds so much of them. */
export function seenWindows(
  planned: readonly HeldWindow[],
  used: readonly number[],
  before: readonly number[],
  pools: readonly number[],
): readonly SeenWindow[] {
  return planned.map(({ start, end }, at) => ({
    start,
    end,
    used: Math.max(0, (used[at] ?? 0) - (pools[at] ?? 0)),
    before: before[at] ?? 0,
  }));
}
