import { buildPlan } from '../data/plugin-runner/build-plan.ts';
import type { PluginInstance } from '../data/plugin-runner/plan.ts';
import type { RuntimeStreamRoute, StreamSnapshot } from '../data/snapshot/runtime-stream.ts';
import { admit } from '../data/stream/admit.ts';
import { runStreamLog } from '../data/stream/run-stream-log.ts';
import { Session } from '../data/stream/session.ts';
import type { StreamContext } from '../plugin-sdk/stream-contexts.ts';
import { privateMeter } from '../shared/zones/plugin-meter.ts';
import { testService } from './test-exchange.ts';

/** A stream of a client. */
export interface TestStream {
  /** Default: tcp. */
  readonly protocol?: StreamContext['protocol'];
  /** Default: 127.0.0.1. */
  readonly clientIp?: string;
  /** TLS server name. Default: none. */
  readonly serverName?: string;
  /** Bytes from the client. Default: 0. */
  readonly received?: number;
  /** Bytes from the backend. Default: 0. */
  readonly sent?: number;
  /** Its status if the plugins accept it. Default: 200. */
  readonly status?: number;
}

export interface TestStreamOutcome {
  readonly accepted: boolean;
  /** The log record as plugins saw it; null: no plugin has `streamLog`. */
  readonly record: Readonly<Record<string, unknown>> | null;
}

/** Accepts or closes a stream, then ends it. */
export function runStream(stream: TestStream, instances: readonly PluginInstance[]): TestStreamOutcome {
  const { protocol = 'tcp', clientIp = '127.0.0.1', serverName = '', received = 0, sent = 0, status = 200 } = stream;
  let record: Readonly<Record<string, unknown>> | null = null;
  const plan = buildPlan(instances);
  // Runs last, so that it sees what the others saw.
  const watched =
    plan.streamLog.length === 0 ? plan : { ...plan, streamLog: [...plan.streamLog, watcher((x) => (record = x))] };
  const session = new Session(
    protocol === 'tls_passthrough' ? 'tls' : protocol,
    { ip: clientIp, port: 40_000 },
    '127.0.0.1',
    9000,
  );
  session.serverName = serverName;
  const route = { ...testRoute, protocols: [protocol], plan: watched };
  const service = admit(session, { streams: { match: () => route } } as unknown as StreamSnapshot);
  if (service !== null) {
    session.status = status;
    session.connected = status === 200;
    session.bytesReceived = session.upstreamSent = received;
    session.bytesSent = session.upstreamReceived = sent;
    session.attempts ??= [];
    session.attempts.push({
      startedAt: session.startedAt,
      ip: '127.0.0.1',
      port: 9000,
      failed: status === 200 ? 0 : status,
    });
  }
  runStreamLog(session);
  return { accepted: service !== null, record };
}

function watcher(saw: (record: Readonly<Record<string, unknown>>) => void): PluginInstance {
  return {
    id: '7f6b8c1e-0000-4000-9000-00000000ffff',
    name: 'watcher',
    priority: Number.MIN_SAFE_INTEGER,
    phases: { streamLog: (context) => saw(context.record()) },
    needs: {},
    log: { debug() {}, info() {}, warn() {}, error() {} },
    lease: null,
    meter: privateMeter(),
    budget: null,
    mark: 0,
  };
}

const testRoute: Omit<RuntimeStreamRoute, 'plan' | 'protocols'> = {
  id: '7f6b8c1e-0000-4000-8000-000000000001',
  mark: 1,
  name: 'test-route',
  sources: null,
  destinations: null,
  snis: null,
  tags: [],
  service: testService,
  row: { id: '7f6b8c1e-0000-4000-8000-000000000001', name: 'test-route', snis: null },
};
