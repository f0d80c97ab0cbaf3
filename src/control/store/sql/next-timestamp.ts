/** A stored timestamp further ahead than this comes from a broken clock, not from skew. In milliseconds. */
const greatestLead = 10 * 60_000;

/**
 * The timestamp of a transaction: the clock, but later than every transaction before it. Lists are cut into pages by
 * `(created_at, id)`: a row stamped no later than one that a client has seen could sort before that client's cursor and never be
 * shown to it. Rows of one transaction may share a timestamp, since they become visible together.
 *
 * One node whose clock is far ahead must not stamp the whole store's future, so its lead is followed only up to a bound.
 */
export function nextTimestamp(last: number, clock: number): number {
  return last >= clock && last - clock <= greatestLead ? last + 1 : clock;
}
