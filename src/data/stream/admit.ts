import { PluginPhase } from '../../shared/zones/worker-vitals.ts';
import { enterCall, leaveCall } from '../plugin-runner/current-request.ts';
import { reportFailure } from '../plugin-runner/report-failure.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import type { RuntimeStreamRoute, StreamSnapshot } from '../snapshot/runtime-stream.ts';
import { expectStreamLog } from './run-stream-log.ts';
import { type Session, Status } from './session.ts';
import { streamContext } from './stream-context.ts';

/**
 * Finds the route of the session and runs its plugins. Returns the service to connect to; null: the status of the
 * session says why not.
 */
export function admit(session: Session, snapshot: StreamSnapshot): RuntimeService | null {
  const { client, localIp, localPort, serverName, transport } = session;
  const route = snapshot.streams.match({
    transport,
    sourceIp: client.ip,
    sourcePort: client.port,
    destinationIp: localIp,
    destinationPort: localPort,
    sni: serverName,
  });
  session.route = route;
  if (route === null) {
    session.status = Status.internal;
    return null;
  }
  expectStreamLog(session, route.plan);
  if (!pluginsAccept(session, route)) session.status = Status.forbidden;
  else if (route.service === null) session.status = Status.unavailable;
  else return route.service;
  return null;
}

function pluginsAccept(session: Session, route: RuntimeStreamRoute): boolean {
  const { accept } = route.plan;
  if (accept.length === 0) return true;
  const context = streamContext(session, route);
  for (const instance of accept) {
    enterCall(PluginPhase.accept, instance.mark, route.mark);
    try {
      if (instance.phases.accept?.(context) !== true) return false;
    } catch (error) {
      reportFailure(instance, 'accept', error);
      return false;
    } finally {
      leaveCall();
    }
  }
  return true;
}
