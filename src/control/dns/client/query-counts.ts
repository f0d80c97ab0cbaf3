/** The counts of a client since it was created. */
export class QueryCounts {
  /** Messages sent to servers, over UDP and TCP. */
  queries = 0;
  /** Attempts without a usable answer: timeouts, refusals, server failures, malformed answers. */
  failures = 0;
  /** Attempts without an answer in time. */
  timeouts = 0;
  /** Truncated answers, which were queried again over TCP. */
  truncated = 0;
  /** Messages that answered another query or none: forged, or too late. */
  foreign = 0;
}
