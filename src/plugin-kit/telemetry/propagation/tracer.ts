import {
  type AccessContext,
  type BaseContext,
  type ContextKey,
  contextKey,
  type HeaderFilterContext,
} from '../../../plugin-sdk/contexts.ts';
import type { OutgoingTrace, RemoteTrace } from './formats.ts';
import { low64Bits } from './formats.ts';
import { Propagation } from './propagation.ts';
import type { PropagationSettings } from './rules.ts';
import { newSpanId, newTraceId } from './trace-ids.ts';

/**
 * How the client's decision and the rate are combined. `parent_probability_fallback`: the client's decision; without one, the
 * rate. `parent_drop_probability_fallback`: a trace that the client does not record is dropped; otherwise the rate decides.
 * `probability`: only the rate.
 */
export type SamplingStrategy = 'parent_probability_fallback' | 'parent_drop_probability_fallback' | 'probability';

export interface TracerOptions {
  readonly settings: PropagationSettings;
  /** Fraction of requests to trace, 0 to 1. */
  readonly rate: number;
  readonly strategy: SamplingStrategy;
  /** False: the decision is made and forwarded, but no span is sent: the client's span stays the parent. */
  readonly enabled: boolean;
  /** Attempts have spans: each sends its own to the backend. Otherwise the backend's parent is the first span. */
  readonly attempts: boolean;
  /** New trace ids have 64 bits. */
  readonly short: boolean;
  /** Response header with the trace id; null: none. */
  readonly responseHeader: string | null;
  /** Requests that are not traced have ids, too (`traced`), for their log lines. */
  readonly keepsIds: boolean;
}

/** The trace of one request, as one plugin sees it. */
export interface RequestTrace {
  readonly remote: RemoteTrace | null;
  /** 32 hexadecimal digits, written with 16 of them when it is `short`. */
  readonly traceId: string;
  readonly short: boolean;
  readonly sampled: boolean;
  /** Spans of it are sent. */
  readonly isSent: boolean;
  /** The request's own span. */
  readonly spanId: string;
  /** Ids of the spans sent to backends, by the index of the attempt among the recorded spans; null: nothing is sent. */
  readonly attempts: Map<number, string> | null;
}

/** Follows the requests of one instance of a tracing plugin: decides, reads and writes headers. Made once, in `setup`. */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #propagation: Propagation;
  readonly #key: ContextKey<RequestTrace>;
  /** Ids are kept for later phases, of requests that are not traced, too. */
  readonly #keeps: boolean;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#propagation = new Propagation(options.settings);
    this.#key = contextKey<RequestTrace>('request trace');
    this.#keeps = options.keepsIds || options.responseHeader !== null;
  }

  /** Call it in the access phase: writes the trace headers for the backend. */
  access(context: AccessContext): void {
    const { enabled, short, attempts } = this.#options;
    if (enabled && !this.#keeps && this.#propagation.isFresh(context)) {
      // Nearly all requests: no trace context came, and no span will be sent.
      const traceId = newTraceId(short);
      this.#send(context, { traceId, short, spanId: newSpanId(), parentId: '', sampled: false, remote: null });
      return;
    }
    const trace = this.#begun(context);
    if (trace.isSent || this.#keeps) context.set(this.#key, trace);
    const outgoing = this.#outgoing(trace);
    this.#send(context, outgoing);
    if (trace.isSent && attempts) this.#followAttempts(context, trace, outgoing);
  }

  /** In the header filter, where `responseHeader` is set. */
  headerFilter(context: HeaderFilterContext): void {
    const name = this.#options.responseHeader;
    if (name === null) return;
    const { short, traceId } = this.#known(context);
    context.response.setHeader(name, short ? low64Bits(traceId) : traceId);
  }

  /** In the log phase: the trace to send; null: none. Also for requests that ended before the access phase. */
  sampled(context: BaseContext): RequestTrace | null {
    // Every trace that is sent was recorded.
    if (context.trace === null || !this.#options.enabled) return null;
    const trace = this.#known(context);
    return trace.isSent ? trace : null;
  }

  /** The ids of a request whether it is traced or not. */
  traced(context: BaseContext): RequestTrace {
    return this.#known(context);
  }

  #send(context: AccessContext, outgoing: OutgoingTrace): void {
    this.#propagation.inject(context, outgoing);
    context.log('trace_id', this.#propagation.logged(outgoing));
  }

  #known(context: BaseContext): RequestTrace {
    const known = context.get(this.#key);
    if (known !== undefined) return known;
    const trace = this.#begun(context);
    const { traceId, short, spanId, sampled, remote } = trace;
    const outgoing = { traceId, short, spanId, parentId: '', sampled, remote };
    context.set(this.#key, trace);
    this.#propagation.join(context, outgoing);
    context.log('trace_id', this.#propagation.logged(outgoing));
    return trace;
  }

  #begun(context: BaseContext): RequestTrace {
    const remote = this.#propagation.extract(context);
    const short = remote === null || remote.traceId === '' ? this.#options.short : remote.short;
    const sampled = this.#decide(context, remote);
    const isSent = sampled && this.#options.enabled;
    return {
      remote,
      traceId: remote === null || remote.traceId === '' ? newTraceId(short) : remote.traceId,
      short,
      sampled,
      isSent,
      spanId: newSpanId(),
      attempts: isSent ? new Map() : null,
    };
  }

  #decide(context: BaseContext, remote: RemoteTrace | null): boolean {
    const { rate, strategy } = this.#options;
    const decision = remote === null || strategy === 'probability' ? null : remote.sampled;
    if (decision === false || (decision === true && strategy === 'parent_probability_fallback')) return decision;
    return context.draw < rate;
  }

  #outgoing(trace: RequestTrace): OutgoingTrace {
    const { traceId, short, sampled, remote } = trace;
    if (!this.#options.enabled) return this.#passedOn(trace);
    const child = trace.isSent && this.#options.attempts;
    const spanId = child ? newSpanId() : trace.spanId;
    return { traceId, short, spanId, parentId: child ? trace.spanId : '', sampled, remote };
  }

  /** A gateway that records nothing is not part of the trace: the client's span stays the parent. */
  #passedOn({ traceId, short, spanId, sampled, remote }: RequestTrace): OutgoingTrace {
    const parent = remote === null || remote.spanId === '' ? spanId : remote.spanId;
    return { traceId, short, spanId: parent, parentId: '', sampled, remote };
  }

  #followAttempts(context: AccessContext, trace: RequestTrace, first: OutgoingTrace): void {
    const { upstream } = context;
    let next: OutgoingTrace | null = first;
    const begun = () => {
      const outgoing = next ?? { ...first, spanId: newSpanId() };
      if (next === null) this.#propagation.write(upstream, outgoing);
      next = null;
      trace.attempts?.set(context.trace?.spans.length ?? 0, outgoing.spanId);
    };
    upstream.watchAttempts({ begun });
  }
}
