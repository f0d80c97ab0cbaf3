import { contextKey } from '../context-key.ts';
import type { AccessContext, BaseContext, ContextKey, HeaderFilterContext } from '../contexts.ts';
import type { OutgoingTrace, RemoteTrace } from './formats.ts';
import { lowHalf } from './formats.ts';
import { Propagation } from './propagation.ts';
import type { PropagationSettings } from './rules.ts';
import { newSpanId, newTraceId } from './trace-ids.ts';

/**
 * How the decision of the client and the rate go together. `parent_probability_fallback`: the client's counts; without one, the
 * rate. `parent_drop_probability_fallback`: what the client does not trace is not traced; of all else, the rate decides.
 * `probability`: the rate alone.
 */
export type SamplingStrategy = 'parent_probability_fallback' | 'parent_drop_probability_fallback' | 'probability';

export interface TracerOptions {
  readonly settings: PropagationSettings;
  /** Share of requests, 0 to 1. */
  readonly rate: number;
  readonly strategy: SamplingStrategy;
  /** False: the decision is made and passed on, and nothing is sent: the client's span stays the parent. */
  readonly enabled: boolean;
  /** Attempts at backends have spans: each tells the backend its own. Otherwise the backend's parent is the first span. */
  readonly attempts: boolean;
  /** New trace ids have 64 bits. */
  readonly short: boolean;
  /** Header of the answer that tells the trace id; null: none. */
  readonly responseHeader: string | null;
  /** Requests that are not traced have ids, too, by `traced`: their log lines tell them. */
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
  /** The spans that backends were told, by the place of the attempt among the spans that were recorded; null: nothing is sent. */
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

  /** In the access phase: the backend is told of the trace. */
  access(context: AccessContext): void {
    const { enabled, short, attempts } = this.#options;
    if (enabled && !this.#keeps && this.#propagation.isFresh(context)) {
      // Nearly all requests: nothing came with them, and nothing is to be sent of them.
      const traceId = newTraceId(short);
      this.#tell(context, { traceId, short, spanId: newSpanId(), parentId: '', sampled: false, remote: null });
      return;
    }
    const trace = this.#begun(context);
    if (trace.isSent || this.#keeps) context.set(this.#key, trace);
    const outgoing = this.#outgoing(trace);
    this.#tell(context, outgoing);
    if (trace.isSent && attempts) this.#followAttempts(context, trace, outgoing);
  }

  /** In the header filter, where `responseHeader` is set. */
  headerFilter(context: HeaderFilterContext): void {
    const name = this.#options.responseHeader;
    if (name === null) return;
    const { short, traceId } = this.#known(context);
    context.response.setHeader(name, short ? lowHalf(traceId) : traceId);
  }

  /** In the log phase: what to send of the request; null: nothing. Also of requests that ended before the access phase. */
  sampled(context: BaseContext): RequestTrace | null {
    // Whatever is to be sent is recorded.
    if (context.trace === null || !this.#options.enabled) return null;
    const trace = this.#known(context);
    return trace.isSent ? trace : null;
  }

  /** The ids of a request whether it is traced or not. */
  traced(context: BaseContext): RequestTrace {
    return this.#known(context);
  }

  #tell(context: AccessContext, outgoing: OutgoingTrace): void {
    this.#propagation.inject(context, outgoing);
    context.log('trace_id', this.#propagation.logged(outgoing));
  }

  #known(context: BaseContext): RequestTrace {
    const known = context.get(this.#key);
    if (known !== undefined) return known;
    const trace = this.#begun(context);
    const { traceId, short, spanId, sampled, remote } = trace;
    const told = { traceId, short, spanId, parentId: '', sampled, remote };
    context.set(this.#key, trace);
    this.#propagation.join(context, told);
    context.log('trace_id', this.#propagation.logged(told));
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
    const told = remote === null || strategy === 'probability' ? null : remote.sampled;
    if (told === false || (told === true && strategy === 'parent_probability_fallback')) return told;
    return context.draw < rate;
  }

  #outgoing(trace: RequestTrace): OutgoingTrace {
    const { traceId, short, sampled, remote } = trace;
    if (!this.#options.enabled) return this.#passedOn(trace);
    const child = trace.isSent && this.#options.attempts;
    const spanId = child ? newSpanId() : trace.spanId;
    return { traceId, short, spanId, parentId: child ? trace.spanId : '', sampled, remote };
  }

  /** A gateway that records nothing is no part of the trace: the client's span stays the parent. */
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
