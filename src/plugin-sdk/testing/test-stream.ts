import { buildPlan } from '../../plugin-runner/build-plan.ts';
import type { PluginInstance } from '../../plugin-runner/plan.ts';
import type { RuntimeStreamRoute, StreamSnapshot } from '../../snapshot/runtime-stream.ts';
import { admit } from '../../stream/admit.ts';
import { runStreamLog } from '../../stream/run-stream-log.ts';
import { Session } from '../../stream/session.ts';
import type { StreamContext } from '../stream-contexts.ts';
import { testService } from './test-exchange.ts';

/** A stream as it comes and ends. */
export interface TestStream {
  /** Default: tcp. */
  readonly protocol?: StreamContext['protocol'];
  /** Default: 127.0.0.1. */
  readonly clientIp?: string;
  readonly serverName?: string;
  /** Bytes from the client, and of the backend. Default: 0. */
  readonly received?: number;
  readonly sent?: number;
  /** How it ends when the plugins let it in. Default: 200. */
  readonly status?: number;
}

export interface TestStreamOutcome {
  readonly accepted: boolean;
  /** The log record as plugins saw it; null: none was told of the end. */
  readonly record: Readonly<Record<string, unknown>> | null;
}

/** Lets a stream in, or not, and ends it. */
export function runStream(stream: TestStream, instances: readonly PluginInstance[]): TestStreamOutcome {
  const { protocol = 'tcp', clientIp = '127.0.0.1', serverName = '', received = 0, sent = 0, status = 200 } = stream;
  let record: Readonly<Record<string, unknown>> | null = null;
  const plan = buildPlan(instances);
  // After all others, so that it sees what they saw.
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
    session.joined = status === 200;
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
