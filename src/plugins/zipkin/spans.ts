import { utf8FromLatin1 } from '../../plugin-kit/http/index.ts';
import { low64Bits, newSpanId, type RequestTrace } from '../../plugin-kit/telemetry/propagation/index.ts';
import type { LogContext, TraceSpan } from '../../plugin-sdk/index.ts';
import { clientTags } from './client-tags.ts';
import { annotationsOf, durationTags, phasesOf } from './phases.ts';
import type { ZipkinConfig } from './schema.ts';
import { duration, endpoint, microseconds, shown, tagsOf, type ZipkinSpan } from './zipkin-span.ts';

/** Values that are the same for all spans of an instance. */
export interface SpanMaker {
  readonly config: ZipkinConfig;
  readonly nodeId: string;
  readonly staticTags: Readonly<Record<string, string>>;
}

/** The spans of a finished request: the request, the proxying as a whole, and each attempt. */
export function spansOf(maker: SpanMaker, context: LogContext, trace: RequestTrace): readonly ZipkinSpan[] {
  const recorded = context.trace?.spans ?? [];
  const attempts = recorded.flatMap((span, at) => (span.kind === 'attempt' ? [{ span, at }] : []));
  const root = requestSpan(maker, context, trace, attempts.length > 0);
  if (attempts.length === 0) return [root];
  const proxy = proxySpan(maker, context, root, attempts[0]!.span, attempts.at(-1)!.span);
  const tries = attempts.map(({ span, at }) =>
    attemptSpan(maker, context, proxy, trace.attempts?.get(at) ?? newSpanId(), span, root.name),
  );
  return [root, proxy, ...tries];
}

function requestSpan(
  { config, nodeId, staticTags }: SpanMaker,
  context: LogContext,
  trace: RequestTrace,
  isProxied: boolean,
): ZipkinSpan {
  const { request, client, response, measures, route, service } = context;
  const { startedAt, total } = measures;
  const parentId = trace.remote?.spanId ?? '';
  const phases = phasesOf(context);
  const path = utf8FromLatin1(request.path);
  const isTagged = config.phase_duration_flavor === 'tags';
  // Annotations of the proxying belong to its span, if there is one.
  const own = isProxied ? phases.slice(0, 1) : phases;
  return {
    traceId: trace.short ? low64Bits(trace.traceId) : trace.traceId,
    id: trace.spanId,
    ...(parentId === '' ? {} : { parentId }),
    name: shown(config.http_span_name === 'method' ? request.method : `${request.method} ${path}`),
    kind: 'SERVER',
    timestamp: microseconds(startedAt),
    duration: duration(startedAt, startedAt + total),
    localEndpoint: { serviceName: config.local_service_name },
    remoteEndpoint: endpoint(client.ip, client.port),
    ...(isTagged ? {} : { annotations: annotationsOf(own) }),
    tags: {
      ...clientTags(request.headerValues(config.tags_header).map(utf8FromLatin1)),
      ...staticTags,
      ...tagsOf({
        lc: 'kong',
        'kong.node.id': nodeId,
        'http.method': request.method,
        'http.host': request.host,
        'http.path': path,
        'http.protocol': `HTTP/${request.httpVersion}`,
        'http.status_code': response.status || undefined,
        'kong.consumer': client.consumer?.id,
        'kong.credential': config.include_credential ? client.credential?.id : undefined,
        'kong.service': service?.id,
        'kong.service_name': service?.name,
        'kong.route': route?.id,
        'kong.route_name': route?.name,
        error: response.status >= 500 || measures.aborted ? true : undefined,
        ...(isTagged ? durationTags(own) : {}),
      }),
    },
  };
}

function proxySpan(
  { config }: SpanMaker,
  context: LogContext,
  root: ZipkinSpan,
  first: TraceSpan,
  last: TraceSpan,
): ZipkinSpan {
  const { startedAt, total } = context.measures;
  const [, ...phases] = phasesOf(context);
  const isTagged = config.phase_duration_flavor === 'tags';
  const start = Math.min(first.start, phases[0]?.start ?? first.start);
  const end = last.end === 0 ? startedAt + total : last.end;
  const serviceName = nameOfBackend(config, context);
  return {
    traceId: root.traceId,
    id: newSpanId(),
    parentId: root.id,
    name: `${root.name} (proxy)`,
    kind: 'CLIENT',
    timestamp: microseconds(start),
    duration: duration(start, end),
    localEndpoint: root.localEndpoint,
    remoteEndpoint: endpoint(text(last, 'ip'), number(last, 'port'), serviceName),
    ...(isTagged ? {} : { annotations: annotationsOf(phases) }),
    tags: tagsOf({
      'peer.hostname': text(last, 'host') || undefined,
      'http.status_code': context.measures.upstreamStatus || undefined,
      error: last.facts['failed'] === true ? true : undefined,
      ...(isTagged ? durationTags(phases) : {}),
    }),
  };
}

function attemptSpan(
  { config }: SpanMaker,
  context: LogContext,
  proxy: ZipkinSpan,
  id: string,
  span: TraceSpan,
  name: string,
): ZipkinSpan {
  const { startedAt, total } = context.measures;
  const failed = span.facts['failed'] === true;
  return {
    traceId: proxy.traceId,
    id,
    parentId: proxy.id,
    name: `${name} (balancer try ${number(span, 'try')})`,
    kind: 'CLIENT',
    timestamp: microseconds(span.start),
    duration: duration(span.start, span.end === 0 ? startedAt + total : span.end),
    localEndpoint: proxy.localEndpoint,
    remoteEndpoint: endpoint(text(span, 'ip'), number(span, 'port'), nameOfBackend(config, context)),
    tags: tagsOf({
      'kong.balancer.try': number(span, 'try'),
      'kong.balancer.state': failed ? 'failed' : undefined,
      'http.status_code': span.facts['status'],
      error: failed ? true : undefined,
    }),
  };
}

function nameOfBackend(config: ZipkinConfig, { service }: LogContext): string | undefined {
  return service?.name ?? config.default_service_name ?? undefined;
}

function text({ facts }: TraceSpan, name: string): string {
  return String(facts[name] ?? '');
}

function number({ facts }: TraceSpan, name: string): number {
  return Number(facts[name] ?? 0);
}
