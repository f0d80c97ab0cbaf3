import type { StreamLogContext } from '../../plugin-sdk/stream-contexts.ts';
import { cachedOmitNulls } from '../../shared/util/omit-nulls.ts';
import type { RuntimeStreamRoute } from '../snapshot/runtime-stream.ts';
import type { Session, StreamAttempt } from './session.ts';

/** The log record of a stream in the format of Kong's serialiser. Times are whole milliseconds. */
export function streamRecord(
  session: Session,
  route: RuntimeStreamRoute,
  { startedAt, total, gateway, bytesReceived, bytesSent, status }: StreamLogContext['measures'],
): Record<string, unknown> {
  const { tls, localPort, upstreamReceived, upstreamSent, attempts, client } = session;
  return {
    session: {
      ...(tls === null ? {} : { tls: { version: tls.version, cipher: tls.cipher, client_verify: 'NONE' } }),
      received: bytesReceived,
      sent: bytesSent,
      status,
      server_port: localPort,
    },
    upstream: { received: upstreamReceived, sent: upstreamSent },
    latencies: { kong: Math.round(gateway), session: Math.round(total) },
    tries: (attempts ?? []).map(tryOf),
    route: cachedOmitNulls(route.row),
    ...(route.service === null ? {} : { service: cachedOmitNulls(route.service.row) }),
    client_ip: client.ip,
    started_at: startedAt,
    workspace: 'default',
    workspace_name: 'default',
  };
}

function tryOf({ startedAt, ip, port, failed }: StreamAttempt): Record<string, unknown> {
  return {
    balancer_start: startedAt,
    balancer_start_ns: startedAt * 1e6,
    ip,
    port,
    ...(failed === 0 ? {} : { state: 'failed', code: failed }),
  };
}
