import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import type { SocketOwner } from '../../shared/util/net/socket-owner.ts';
import { DownstreamConnection } from '../http1/downstream-connection.ts';
import type { ClientConnection } from '../request/downstream.ts';
import type { DownstreamHost } from '../request/downstream-host.ts';
import type { DownstreamPeer } from '../request/exchange.ts';
import { DownstreamSession } from './downstream-session.ts';
import { PrefaceConnection } from './preface-connection.ts';

/** A connection to a listener with `http2`. Only a worker that has such a listener loads this module. */
export function http2Connection(
  socket: Socket,
  { ssl }: ListenAddress,
  peer: DownstreamPeer,
  host: DownstreamHost,
): SocketOwner & ClientConnection {
  if (!ssl) return new PrefaceConnection(socket, peer, host);
  // A socket that has closed already cannot carry a session.
  const isSession = (socket as TLSSocket).alpnProtocol === 'h2' && !socket.destroyed;
  return isSession ? new DownstreamSession(socket, peer, host) : new DownstreamConnection(socket, peer, host);
}
