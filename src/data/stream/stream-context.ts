import type { ServiceView } from '../../plugin-sdk/request-views.ts';
import type { StreamContext } from '../../plugin-sdk/stream-contexts.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import type { RuntimeStreamRoute } from '../snapshot/runtime-stream.ts';
import type { Session } from './session.ts';

/** What plugins see of a stream whose route is known. */
export function streamContext(session: Session, route: RuntimeStreamRoute): StreamContext {
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
