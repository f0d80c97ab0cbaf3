import { type ReadFormat, readFormats, type TraceFormat } from './formats.ts';

/** Kong's fields: `header_type` and `default_header_type`, or `propagation`, which counts as soon as one of its lists is given. */
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

/** What both ways of saying it come to. */
export interface PropagationRules {
  /** Read in this order: the first that is there counts. */
  readonly extract: readonly ReadFormat[];
  /** Headers that the backend does not get. */
  readonly clear: readonly string[];
  readonly inject: readonly (TraceFormat | 'preserve')[];
  /** Stands for `preserve` where there is nothing to preserve; null: nothing does. */
  readonly fallback: TraceFormat | null;
}

export function propagationRules(settings: PropagationSettings): PropagationRules {
  const { header_type: type, default_header_type: usual, propagation } = settings;
  const { extract, clear, inject, default_format: fallback } = propagation;
  if (extract !== null || clear !== null || inject !== null) {
    return { extract: extract ?? [], clear: clear ?? [], inject: inject ?? [], fallback };
  }
  // Where there are two fields for it, the one that is not at its default counts.
  const standard = usual === undefined || usual === 'b3' ? fallback : usual;
  if (type === 'ignore') return { extract: [], clear: [], inject: [standard], fallback: null };
  if (type === 'preserve') return { extract: inOrder(standard), clear: [], inject: ['preserve'], fallback: standard };
  return { extract: inOrder(type), clear: [], inject: ['preserve', type], fallback: null };
}

/** All forms, the plugin's own first. */
function inOrder(first: TraceFormat): readonly ReadFormat[] {
  const own: ReadFormat = first === 'b3-single' ? 'b3' : first;
  return [own, ...readFormats.filter((format) => format !== own)];
}

/** By which headers a request says something of a trace. `tracestate` is here because none may pass without `traceparent`. */
const telling: Readonly<Record<ReadFormat, readonly string[]>> = {
  w3c: ['traceparent', 'tracestate'],
  b3: ['b3', 'x-b3-traceid', 'x-b3-sampled', 'x-b3-flags'],
  jaeger: ['uber-trace-id'],
  ot: ['ot-tracer-traceid', 'ot-tracer-sampled'],
  datadog: ['x-datadog-trace-id', 'x-datadog-sampling-priority'],
  aws: ['x-amzn-trace-id'],
  gcp: ['x-cloud-trace-context'],
};

/** Headers, in lower case, with which a request is to be recorded (`needs.trace`) for a plugin with these settings. */
export function traceHeaders(settings: PropagationSettings): readonly string[] {
  const { extract, inject, fallback } = propagationRules(settings);
  // What is written anew must not find an old one beside it.
  const writesW3c = inject.includes('w3c') || (inject.includes('preserve') && fallback === 'w3c');
  const formats = new Set<ReadFormat>(writesW3c ? [...extract, 'w3c'] : extract);
  return [...formats].flatMap((format) => telling[format]);
}
