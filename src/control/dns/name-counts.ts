/** The counts of a name table since it was created. */
export class NameCounts {
  /** Lookups of names. */
  lookups = 0;
  /** Those that were answered at once. */
  hits = 0;
  /** Those that were answered with stale addresses. */
  stale = 0;
  /** Names requested from the DNS client, the first time and for refreshes. */
  refreshes = 0;
  /** Refreshes that failed. */
  failures = 0;
  /** Changes of addresses. */
  changes = 0;
}
