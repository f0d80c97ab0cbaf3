/** What a name table counted since it was made. */
export class NameCounts {
  /** Questions for a name's state. */
  lookups = 0;
  /** Those that were answered at once. */
  hits = 0;
  /** Those that were answered with stale addresses. */
  stale = 0;
  /** Names asked for from the client, the first time and again. */
  refreshes = 0;
  /** Refreshes that failed. */
  failures = 0;
  /** Changes of addresses. */
  changes = 0;
}
