import type { Socket } from 'node:net';
import { canonicalIp } from '../util/ip-address.ts';
import { proxyHeaderOf } from './expect-proxy-header.ts';
import type { ProxiedAddress } from './proxy-protocol.ts';

/**
 * The other end of a client's connection. `trusted`: peers whose PROXY header is believed, so that what it names stands in
 * their place; null: none are.
 */
export function remoteEnd(socket: Socket, trusted: { has(ip: string): boolean } | null): ProxiedAddress {
  const ip = plainIp(socket.remoteAddress ?? '0.0.0.0');
  const told = trusted?.has(ip) === true ? proxyHeaderOf(socket) : null;
  return told ?? { ip, port: socket.remotePort ?? 0 };
}

/** The canonical form of a socket's address. */
export function plainIp(ip: string): string {
  return ip.includes(':') ? (canonicalIp(ip) ?? ip) : ip;
}
