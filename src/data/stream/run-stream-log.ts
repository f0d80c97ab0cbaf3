import type { StreamContext, StreamLogContext } from '../../plugin-sdk/stream-contexts.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { PluginPhase } from '../../shared/zones/worker-vitals.ts';
import { enterCall, leaveCall } from '../plugin-runner/current-request.ts';
import { holdInstances, releaseInstances } from '../plugin-runner/instances.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import { reportFailure } from '../plugin-runner/report-failure.ts';
import type { RuntimeStreamRoute } from '../snapshot/runtime-stream.ts';
import type { Session } from './session.ts';
import { streamContext } from './stream-context.ts';
import { streamRecord } from './stream-record.ts';

/**
 * Called when the session begins: from now on it gathers what its log plugins record, if it has any. They are not
 * disposed of before it ends.
 */
export function expectStreamLog(session: Session, plan: PluginPlan): void {
  if (plan.streamLog.length === 0) return;
  session.plan = plan;
  holdInstances(plan.streamLog);
}

/** Called when the session is over: runs its log plugins, once. An exception is logged. */
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
      reportFailure(instance, 'streamLog', error);
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
  const { startedAt, startedMono, upstreamStartedMono, bytesReceived, bytesSent, status, connected } = session;
  const total = monotonic() - startedMono;
  return {
    startedAt,
    total,
    gateway: upstreamStartedMono > 0 ? upstreamStartedMono - startedMono : total,
    bytesReceived,
    bytesSent,
    status,
    source: connected ? 'upstream' : 'gateway',
  };
}
