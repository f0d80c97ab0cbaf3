import { low64Bits, newSpanId, newTraceId } from '../../plugin-kit/telemetry/propagation/index.ts';
import type { StreamLogContext } from '../../plugin-sdk/index.ts';
import type { SpanMaker } from './spans.ts';
import { duration, endpoint, microseconds, tagsOf, type ZipkinSpan } from './zipkin-span.ts';

/** The spans of a stream, which has no trace context, and of its backend connection. */
export function streamSpans(
  { config, nodeId, staticTags }: SpanMaker,
  context: StreamLogContext,
): readonly ZipkinSpan[] {
  const { protocol, client, measures, route, service } = context;
  const { startedAt, total, gateway } = measures;
  const id = newTraceId(config.traceid_byte_count === 8);
  const traceId = config.traceid_byte_count === 8 ? low64Bits(id) : id;
  const localEndpoint = { serviceName: config.local_service_name };
  const root: ZipkinSpan = {
    traceId,
    id: newSpanId(),
    name: 'stream',
    kind: 'SERVER',
    timestamp: microseconds(startedAt),
    duration: duration(startedAt, startedAt + total),
    localEndpoint,
    remoteEndpoint: endpoint(client.ip, client.port),
    annotations: [
      { timestamp: microseconds(startedAt), value: 'kps' },
      { timestamp: microseconds(startedAt + gateway), value: 'kpf' },
    ],
    tags: {
      ...staticTags,
      ...tagsOf({
        lc: 'kong',
        'kong.node.id': nodeId,
        'stream.protocol': protocol,
        'kong.service': service?.id,
        'kong.service_name': service?.name,
        'kong.route': route.id,
        'kong.route_name': route.name,
        error: measures.status >= 500 ? true : undefined,
      }),
    },
  };
  if (measures.source !== 'upstream') return [root];
  const serviceName = service?.name ?? config.default_service_name ?? undefined;
  const start = startedAt + gateway;
  const proxy: ZipkinSpan = {
    traceId,
    id: newSpanId(),
    parentId: root.id,
    name: 'stream (proxy)',
    kind: 'CLIENT',
    timestamp: microseconds(start),
    duration: duration(start, startedAt + total),
    localEndpoint,
    ...(serviceName === undefined ? {} : { remoteEndpoint: { serviceName } }),
    tags: tagsOf({ 'peer.hostname': service?.host }),
  };
  return [root, proxy];
}
