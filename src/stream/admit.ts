import type { ServiceView, StreamContext } from '../plugin-sdk/contexts.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import type { RuntimeStreamRoute, StreamSnapshot } from '../snapshot/runtime-stream.ts';
import { type Session, Status } from './session.ts';

/** Finds the session's route and asks its plugins. Returns the service to go on to; null: the session's status says why not. */
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
  if (route === null) session.status = Status.internal;
  else if (!pluginsAccept(session, route)) session.status = Status.forbidden;
  else if (route.service === null) session.status = Status.unavailable;
  else return route.service;
  return null;
}

function pluginsAccept(session: Session, route: RuntimeStreamRoute): boolean {
  const { accept } = route.plan;
  if (accept.length === 0) return true;
  const context = contextOf(session, route);
  for (const instance of accept) {
    try {
      if (instance.phases.accept?.(context) !== true) return false;
    } catch (error) {
      instance.log.error('plugin failed', { phase: 'accept', error });
      return false;
    }
  }
  return true;
}

function contextOf(session: Session, route: RuntimeStreamRoute): StreamContext {
  const { client, localIp, localPort, serverName, protocol } = session;
  const { id, name, tags, service } = route;
  return {
    protocol,
    client: { ip: client.ip, port: client.port },
    localIp,
    localPort,
    serverName,
    route: { id, name, tags },
    service: service === null ? null : serviceView(service),
  };
}

function serviceView({ id, name, host, port, protocol, path, tags }: RuntimeService): ServiceView {
  return { id, name, host, port, protocol, path, tags };
}
