/**
 * What a span measures.
 *
 * - `router`: the search for the route
 * - `plugin`: one phase of one plugin instance
 * - `dns`: the wait for a name
 * - `balancer`: the choice of an address
 * - `connect`: a new connection to a backend, TLS included
 * - `attempt`: one attempt at a backend, from its address to the end of its response
 */
export type SpanKind = 'router' | 'plugin' | 'dns' | 'balancer' | 'connect' | 'attempt';

/** One operation of a recorded request. */
export interface TraceSpan {
  readonly kind: SpanKind;
  /** Of `plugin`: its name. Of `dns`: the name that was resolved. Otherwise the same as `kind`. */
  readonly name: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly start: number;
  /** Milliseconds since the epoch, with fractions; 0: the request ended before the span did. */
  readonly end: number;
  /**
   * Of `plugin`: `phase`, `instance`, `decided` (`status 401`, `failed`). Of `attempt`: `try` (from 1), `ip`, `port`, `host`,
   * `status`, `failed`, `cause` (a code), `reason` (the message of the system).
   */
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/**
 * The spans of one request.
 *
 * @example
 * log({ trace }: LogContext) {
 *   const connects = trace?.spans.filter(({ kind }) => kind === 'connect') ?? [];
 *   for (const { start, end } of connects) report(end - start);
 * }
 */
export interface Trace {
  /** In the order of their start; at most 256. */
  readonly spans: readonly TraceSpan[];
}

/**
 * Which requests are recorded for a plugin. A request that any plugin records has its `trace` in all of them, so check with
 * `context.draw` whether your plugin samples it. Other requests have no trace and cost nothing.
 */
export interface TraceNeeds {
  /** Fraction of the requests that are recorded, 0 to 1. Default: the setting `tracing_sampling_rate`. */
  readonly rate?: number;
  /** Requests with one of these header fields are always recorded: the client may have sampled them. Default: none. */
  readonly headers?: readonly string[];
}
