import type { Attributes, Span } from '../../plugin-kit/telemetry/otlp/index.ts';
import { newSpanId, type RequestTrace } from '../../plugin-kit/telemetry/propagation/index.ts';
import type { LogContext, TraceSpan } from '../../plugin-sdk/index.ts';
import { requestAttributes } from './request-attributes.ts';

/** Kong's names of the instrumentations (`tracing_instrumentations`), and the prefixes of their span names. */
const phases: Readonly<Record<string, { readonly setting: string; readonly name: string }>> = {
  rewrite: { setting: 'plugin_rewrite', name: 'kong.rewrite.plugin' },
  access: { setting: 'plugin_access', name: 'kong.access.plugin' },
  response: { setting: 'plugin_header_filter', name: 'kong.response.plugin' },
  headerFilter: { setting: 'plugin_header_filter', name: 'kong.header_filter.plugin' },
};

const settings: Readonly<Record<TraceSpan['kind'], string>> = {
  router: 'router',
  plugin: '',
  dns: 'dns_query',
  balancer: 'balancer',
  attempt: 'balancer',
  connect: 'http_client',
};

/** The spans of a finished request: its own, named `kong`, and child spans of the enabled kinds. */
export function spansOf(context: LogContext, trace: RequestTrace, wanted: ReadonlySet<string>): readonly Span[] {
  const recorded = context.trace?.spans ?? [];
  const { startedAt, total } = context.measures;
  const end = startedAt + total;
  const ids = recorded.map((span, at) => (isWanted(span, wanted) ? (trace.attempts?.get(at) ?? newSpanId()) : ''));
  const below = recorded.flatMap((span, at): Span[] => {
    const spanId = ids[at] ?? '';
    if (spanId === '') return [];
    const parentId = span.kind === 'connect' ? (attemptOf(recorded, ids, at) ?? trace.spanId) : trace.spanId;
    const { traceId } = trace;
    return [{ traceId, spanId, parentId, start: span.start, end: span.end === 0 ? end : span.end, ...described(span) }];
  });
  return [rootOf(context, trace, end), ...below];
}

function rootOf(context: LogContext, { traceId, spanId, remote }: RequestTrace, end: number): Span {
  const { status } = context.response;
  return {
    traceId,
    spanId,
    parentId: remote?.spanId ?? '',
    ...(remote?.format === 'w3c' ? { traceState: remote.state } : {}),
    name: 'kong',
    kind: 'server',
    start: context.measures.startedAt,
    end,
    attributes: requestAttributes(context),
    // A client error is not an error of the server span (HTTP semantic conventions).
    error: context.measures.aborted ? 'the client disconnected' : status >= 500 ? `status ${status}` : null,
  };
}

function isWanted({ kind, facts }: TraceSpan, wanted: ReadonlySet<string>): boolean {
  return wanted.has(kind === 'plugin' ? (phases[String(facts['phase'])]?.setting ?? '') : settings[kind]);
}

/** The span of the attempt that opened the connection: calls to backends may overlap. */
function attemptOf(recorded: readonly TraceSpan[], ids: readonly string[], at: number): string | null {
  const { start } = recorded[at]!;
  for (let before = at - 1; before >= 0; before--) {
    const { kind, start: begun, end } = recorded[before]!;
    if (kind === 'attempt' && begun <= start && (end === 0 || end >= start)) return ids[before] || null;
  }
  return null;
}

type Described = Pick<Span, 'name' | 'kind' | 'attributes' | 'error'>;

function described({ kind, name, facts }: TraceSpan): Described {
  switch (kind) {
    case 'router':
      return internal('kong.router', {});
    case 'dns':
      return {
        ...internal('kong.dns', { 'dns.record.domain': name, 'dns.question.name': name }),
        error: facts['found'] === false ? 'not found' : null,
      };
    case 'balancer':
      return {
        ...internal('kong.balancer.choice', {
          'kong.upstream.name': name,
          'server.address': facts['host'],
          'server.port': facts['port'],
        }),
        error: facts['failed'] === true ? 'no target' : null,
      };
    case 'connect':
      return internal('kong.balancer.connect', {});
    case 'attempt':
      return attempt(facts);
    case 'plugin':
      return plugin(name, facts);
  }
}

function internal(name: string, attributes: Attributes): Described {
  return { name, kind: 'internal', attributes, error: null };
}

function plugin(name: string, { phase, instance, decided }: TraceSpan['facts']): Described {
  const { name: prefix = 'kong.plugin' } = phases[String(phase)] ?? {};
  const attributes = { 'kong.plugin.name': name, 'kong.plugin.id': instance, 'kong.plugin.decision': decided };
  return { ...internal(`${prefix}.${name}`, attributes), error: decided === 'failed' ? 'failed' : null };
}

/** Kong's attribute names, and those of the current semantic conventions. */
function attempt(facts: TraceSpan['facts']): Described {
  const { ip, port, host, status, failed, cause } = facts;
  // A failed call has the status for the client, not one of the backend.
  const answered = failed === true ? undefined : status;
  const isError = failed === true || Number(answered ?? 0) >= 400;
  return {
    name: 'kong.balancer',
    kind: 'client',
    attributes: {
      try_count: facts['try'],
      'net.peer.ip': ip,
      'net.peer.port': port,
      'net.peer.name': host,
      'http.status_code': answered,
      'network.peer.address': ip,
      'network.peer.port': port,
      'server.address': host,
      'server.port': port,
      'http.response.status_code': answered,
      'kong.balancer.pooled': facts['pooled'],
      'error.type': isError ? String(cause ?? answered ?? 'failed') : undefined,
    },
    error: isError ? String(cause ?? (answered === undefined ? 'failed' : `status ${answered}`)) : null,
  };
}
