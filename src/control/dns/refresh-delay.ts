/** Minimum TTL: a gateway must not send a query for each request. */
const shortestRefresh = 1_000;
/** Maximum TTL (RFC 8767 4): a longer one is probably an error; and timers are limited to 24 days. */
const maxRefreshTime = 7 * 24 * 3_600_000;
/** Fraction of the TTL by which refreshes of names that were resolved together are spread. */
const spread = 0.1;
/** As in Kong: failed lookups are retried every 30 s. */
const maxRetryTime = 30_000;

/** Milliseconds until a name is queried again: after its TTL, so that the cache of the server has expired, too. */
export function refreshDelay(ttl: number, random: number): number {
  return Math.min(maxRefreshTime, Math.max(shortestRefresh, ttl) * (1 + spread * random));
}

/** Milliseconds until a failed name is queried again: doubles with each failure, up to 30 s. */
export function failureDelay({ failures, first, random }: FailureDelay): number {
  const step = Math.max(shortestRefresh, first) * 2 ** Math.min(failures, 16);
  return Math.min(maxRefreshTime, Math.max(maxRetryTime, first), step) * (1 - spread * random);
}

interface FailureDelay {
  /** Failures before this one, in a row. */
  readonly failures: number;
  /** The first delay, milliseconds. */
  readonly first: number;
  /** 0 to 1. */
  readonly random: number;
}
