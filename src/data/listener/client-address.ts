import type { Socket } from 'node:net';
import { proxyHeaderOf } from '../../shared/proxy-protocol/expect-proxy-header.ts';
import type { ProxiedAddress } from '../../shared/proxy-protocol/proxy-protocol.ts';
import { plainIp } from '../../shared/util/net/plain-ip.ts';

/**
 * The address of the client of a connection. `trusted`: peers whose PROXY header is trusted and replaces their own
 * address; null: none.
 */
export function clientAddress(socket: Socket, trusted: { has(ip: string): boolean } | null): ProxiedAddress {
  const ip = plainIp(socket.remoteAddress ?? '0.0.0.0');
  const proxied = trusted?.has(ip) === true ? proxyHeaderOf(socket) : null;
  return proxied ?? { ip, port: socket.remotePort ?? 0 };
}
