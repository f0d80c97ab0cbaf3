/** What a record with a shorter time gets: a gateway must not ask for each request. */
const shortestRefresh = 1_000;
/** RFC 8767 4: longer times are more likely a mistake than meant; and timers end at 24 days. */
const longestRefresh = 7 * 24 * 3_600_000;
/** Part of the time by which refreshes of names that were learnt together drift apart. */
const spread = 0.1;
/** Kong's: failed look-ups are tried again every 30 s. */
const longestRetry = 30_000;

/** Milliseconds until a name is asked for again; after its time is over, so that a server's cache has a new one too. */
export function refreshDelay(ttl: number, random: number): number {
  return Math.min(longestRefresh, Math.max(shortestRefresh, ttl) * (1 + spread * random));
}

/** Milliseconds until a failed name is tried again: doubles with each failure, up to 30 s. */
export function failureDelay({ failures, first, random }: FailureDelay): number {
  const step = Math.max(shortestRefresh, first) * 2 ** Math.min(failures, 16);
  return Math.min(longestRefresh, Math.max(longestRetry, first), step) * (1 - spread * random);
}

interface FailureDelay {
  /** Failures before this one, in a row. */
  readonly failures: number;
  /** The first delay, milliseconds. */
  readonly first: number;
  /** 0 to 1. */
  readonly random: number;
}
