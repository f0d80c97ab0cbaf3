import { type ReadFormat, readFormats, type TraceFormat } from './formats.ts';

/** Kong's fields: `header_type` and `default_header_type`, or `propagation`, which replaces them if it has one of its lists. */
export interface PropagationSettings {
  readonly header_type: TraceFormat | 'preserve' | 'ignore';
  readonly default_header_type?: TraceFormat;
  readonly propagation: {
    readonly extract: readonly ReadFormat[] | null;
    readonly clear: readonly string[] | null;
    readonly inject: readonly (TraceFormat | 'preserve')[] | null;
    readonly default_format: TraceFormat;
  };
}

/** The rules from either form of the configuration. */
export interface PropagationRules {
  /** Read in this order: the first one present counts. */
  readonly extract: readonly ReadFormat[];
  /** Headers that are removed from the request to the backend. */
  readonly clear: readonly string[];
  readonly inject: readonly (TraceFormat | 'preserve')[];
  /** Replaces `preserve` if there is nothing to preserve; null: no header is written then. */
  readonly fallback: TraceFormat | null;
}

export function propagationRules(settings: PropagationSettings): PropagationRules {
  const { header_type: type, default_header_type: usual, propagation } = settings;
  const { extract, clear, inject, default_format: fallback } = propagation;
  if (extract !== null || clear !== null || inject !== null) {
    return { extract: extract ?? [], clear: clear ?? [], inject: inject ?? [], fallback };
  }
  // If two fields set it, the one that differs from its default counts.
  const standard = usual === undefined || usual === 'b3' ? fallback : usual;
  if (type === 'ignore') return { extract: [], clear: [], inject: [standard], fallback: null };
  if (type === 'preserve') return { extract: inOrder(standard), clear: [], inject: ['preserve'], fallback: standard };
  return { extract: inOrder(type), clear: [], inject: ['preserve', type], fallback: null };
}

/** All formats, the plugin's own first. */
function inOrder(first: TraceFormat): readonly ReadFormat[] {
  const own: ReadFormat = first === 'b3-single' ? 'b3' : first;
  return [own, ...readFormats.filter((format) => format !== own)];
}

/** Headers that carry a trace context. `tracestate` is included because it must not pass without `traceparent`. */
const telling: Readonly<Record<ReadFormat, readonly string[]>> = {
  w3c: ['traceparent', 'tracestate'],
  b3: ['b3', 'x-b3-traceid', 'x-b3-sampled', 'x-b3-flags'],
  jaeger: ['uber-trace-id'],
  ot: ['ot-tracer-traceid', 'ot-tracer-sampled'],
  datadog: ['x-datadog-trace-id', 'x-datadog-sampling-priority'],
  aws: ['x-amzn-trace-id'],
  gcp: ['x-cloud-trace-context'],
};

/** Headers, in lower case. A request with one of them has to be recorded (`needs.trace`) for a plugin with these settings. */
export function traceHeaders(settings: PropagationSettings): readonly string[] {
  const { extract, inject, fallback } = propagationRules(settings);
  // A header that is written must not exist twice.
  const writesW3c = inject.includes('w3c') || (inject.includes('preserve') && fallback === 'w3c');
  const formats = new Set<ReadFormat>(writesW3c ? [...extract, 'w3c'] : extract);
  return [...formats].flatMap((format) => telling[format]);
}
