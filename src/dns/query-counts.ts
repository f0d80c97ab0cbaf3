/** What a client counted since it was made. */
export class QueryCounts {
  /** Messages sent to servers, over UDP and TCP. */
  queries = 0;
  /** Tries without a usable answer: time-outs, refusals, server failures, garbage. */
  failures = 0;
  /** Tries that nobody answered in time. */
  timeouts = 0;
  /** Answers that were cut off, and asked for again over TCP. */
  truncated = 0;
  /** Messages that answered another question, or none: forged, or too late. */
  foreign = 0;
}
