import { enterCall, leaveCall } from '../plugin-runner/current-request.ts';
import { holdInstances, releaseInstances } from '../plugin-runner/instances.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { StreamContext, StreamLogContext } from '../plugin-sdk/stream-contexts.ts';
import type { RuntimeStreamRoute } from '../snapshot/runtime-stream.ts';
import { monotonic } from '../util/clock.ts';
import { PluginPhase } from '../zones/worker-vitals.ts';
import type { Session } from './session.ts';
import { streamContext } from './stream-context.ts';
import { streamRecord } from './stream-record.ts';

/** The session begins: from here on is gathered what plugins are told of its end, if there are such. They are not disposed of before it. */
export function expectStreamLog(session: Session, plan: PluginPlan): void {
  if (plan.streamLog.length === 0) return;
  session.plan = plan;
  holdInstances(plan.streamLog);
}

/** The session is over: its plugins are told, once. One that throws is logged. */
export function runStreamLog(session: Session): void {
  const { plan, route } = session;
  if (plan === null || route === null) return;
  session.plan = null;
  const context = logContext(session, route);
  for (const instance of plan.streamLog) {
    enterCall(PluginPhase.streamLog, instance.mark, route.mark);
    try {
      instance.phases.streamLog?.(context);
    } catch (error) {
      instance.log.error('plugin failed', { phase: 'streamLog', error });
    } finally {
      leaveCall();
    }
  }
  releaseInstances(plan.streamLog);
}

function logContext(session: Session, route: RuntimeStreamRoute): StreamLogContext {
  const measures = measuresOf(session);
  let record: Readonly<Record<string, unknown>> | null = null;
  return {
    ...(streamContext(session, route) satisfies StreamContext),
    measures,
    record() {
      record ??= streamRecord(session, route, measures);
      return record;
    },
  };
}

function measuresOf(session: Session): StreamLogContext['measures'] {
  const { startedAt, startedMono, askedMono, bytesReceived, bytesSent, status, joined } = session;
  const total = monotonic() - startedMono;
  return {
    startedAt,
    total,
    gateway: askedMono > 0 ? askedMono - startedMono : total,
    bytesReceived,
    bytesSent,
    status,
    source: joined ? 'upstream' : 'gateway',
  };
}
