/** What a span tells of. `attempt`: one try at a backend, from its address to the end of its answer. */
export type SpanKind = 'router' | 'plugin' | 'dns' | 'balancer' | 'connect' | 'attempt';

/** Something that a request waited for or that was done for it. */
export interface TraceSpan {
  readonly kind: SpanKind;
  /** Of `plugin`: its name. Of `dns`: the name asked for. Else the same as `kind`. */
  readonly name: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly start: number;
  /** 0: it was not over when the request was. */
  readonly end: number;
  /** Of `plugin`: `phase`, `instance`, `decided` (`status 401`, `failed`). Of `attempt`: `try` (from 1), `ip`, `port`, `host`, `status`, `failed`, `cause` (a code), `reason` (in the system's words). */
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** What was recorded of a request, oldest first; 256 spans at most. */
export interface Trace {
  readonly spans: readonly TraceSpan[];
}

/** A plugin that wants requests recorded. Which of them it uses is its own decision, by `context.draw` and what the client says. */
export interface TraceNeeds {
  /** Share of requests to record, 0 to 1. Default: the setting `tracing_sampling_rate`. */
  readonly rate?: number;
  /** Requests that carry one of these header fields are recorded whatever the rate: the client may have decided. Default: none. */
  readonly headers?: readonly string[];
}
