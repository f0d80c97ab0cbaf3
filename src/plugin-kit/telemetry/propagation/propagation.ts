import { type AccessContext, type BaseContext, contextKey } from '../../../plugin-sdk/contexts.ts';
import type { UpstreamRequestEdit } from '../../../plugin-sdk/upstream-request-edit.ts';
import { aws } from './aws.ts';
import { b3, b3Single } from './b3.ts';
import { datadog } from './datadog.ts';
import type { HeaderFormat, OutgoingTrace, RemoteTrace, TraceFormat } from './formats.ts';
import { gcp } from './gcp.ts';
import { jaeger } from './jaeger.ts';
import { loggedId } from './logged-id.ts';
import { ot } from './ot.ts';
import { type PropagationRules, type PropagationSettings, propagationRules, traceHeaders } from './rules.ts';
import { traceparentOf, w3c } from './w3c.ts';

/** The trace context that the last tracing plugin of the request sends to the backend; later plugins continue it. */
const joinedTrace = contextKey<OutgoingTrace>('trace');

const forms: Readonly<Record<TraceFormat, HeaderFormat>> = {
  w3c,
  b3,
  'b3-single': b3Single,
  jaeger,
  ot,
  datadog,
  aws,
  gcp,
};

/** How a plugin reads and writes the headers of traces. Made once, in `setup`. Needs `needs.trace` with `traceHeaders`. */
export class Propagation {
  readonly #rules: PropagationRules;
  readonly #inject: readonly TraceFormat[];
  /** Also writes the format of the client's trace headers. */
  readonly #preserves: boolean;
  /** Without trace headers of the client, only `traceparent` is written. */
  readonly #plain: boolean;
  /** Matches a header block with one of the headers of traces; null: there are none to look for. */
  readonly #headers: RegExp | null;

  constructor(settings: PropagationSettings) {
    this.#rules = propagationRules(settings);
    const { inject, fallback, clear } = this.#rules;
    this.#inject = inject.filter((format) => format !== 'preserve');
    this.#preserves = inject.includes('preserve');
    const usual = new Set(this.#preserves && fallback !== null ? [...this.#inject, fallback] : this.#inject);
    this.#plain = clear.length === 0 && usual.size === 1 && usual.has('w3c');
    const names = traceHeaders(settings);
    this.#headers = names.length === 0 ? null : new RegExp(`(?:^|\\n)(?:${names.join('|')}):`, 'i');
  }

  /** The decision of an earlier tracing plugin, or the client's trace context; null: none that could be read. */
  extract(context: BaseContext): RemoteTrace | null {
    const before = context.get(joinedTrace);
    if (before !== undefined) return joined(before);
    if (!this.#hasHeaders(context)) return null;
    for (const format of this.#rules.extract) {
      const found = forms[format].read(context.request);
      if (found !== null) return found;
    }
    return null;
  }

  /** There is nothing to extract: the request has no trace headers. */
  isFresh(context: BaseContext): boolean {
    return context.trace === null && context.get(joinedTrace) === undefined;
  }

  /** Sends the trace context to the backend and to later plugins. */
  inject(context: AccessContext, trace: OutgoingTrace): void {
    const { upstream } = context;
    if (this.#plain && trace.remote === null && !this.#hasHeaders(context)) {
      upstream.setAbsentHeader('traceparent', traceparentOf(trace));
    } else {
      for (const name of this.#rules.clear) upstream.removeHeader(name);
      this.write(upstream, trace);
    }
    this.join(context, trace);
  }

  /** Later plugins continue the trace. */
  join(context: BaseContext, trace: OutgoingTrace): void {
    context.set(joinedTrace, trace);
  }

  /** Only the headers: for another attempt, which has its own span. */
  write(upstream: UpstreamRequestEdit, trace: OutgoingTrace): void {
    const kept = this.#kept(trace.remote);
    if (kept !== null && !this.#inject.includes(kept)) forms[kept].write(trace, upstream);
    for (const format of this.#inject) forms[format].write(trace, upstream);
  }

  /** The trace id in the formats that the backend receives, as in Kong's log record. */
  logged(trace: OutgoingTrace): Readonly<Record<string, string>> {
    if (this.#plain && trace.remote === null) return { w3c: trace.traceId };
    const kept = this.#kept(trace.remote);
    const ids: Record<string, string> = {};
    for (const format of kept === null ? this.#inject : [kept, ...this.#inject]) {
      ids[format === 'b3-single' ? 'b3' : format] = loggedId(format, trace);
    }
    return ids;
  }

  /** Requests with one of the headers are recorded, whatever their values. Most of the others that are have none to read. */
  #hasHeaders({ trace, request }: BaseContext): boolean {
    return trace !== null && this.#headers?.test(request.block()) === true;
  }

  #kept(remote: RemoteTrace | null): TraceFormat | null {
    return this.#preserves ? (remote?.format ?? this.#rules.fallback) : null;
  }
}

/** The trace context for later plugins. */
function joined({ traceId, short, spanId, sampled, remote }: OutgoingTrace): RemoteTrace {
  const { format = null, debug = false, state = '' } = remote ?? {};
  return { format, traceId, short, spanId, sampled, debug, state };
}
