import { isIP } from 'node:net';
import { headerValues } from '../http1/header-block.ts';
import type { TrustedPeers } from '../util/trusted-peers.ts';
import type { Exchange } from './exchange.ts';
import type { ProxyOptions } from './options.ts';
import { hostName } from './request-message.ts';

/** Finds the client's address and scheme as a trusted peer tells them. Only for trusted peers. */
export function believePeer(x: Exchange, trusted: TrustedPeers, options: ProxyOptions): void {
  const { head } = x;
  const scheme = head.forwardedProto.toLowerCase();
  if (scheme === 'https' || scheme === 'http') x.clientScheme = scheme;
  // Taken from the connection's PROXY header already; a header field of that name says nothing.
  if (options.realIpHeader === 'proxy_protocol') return;
  const told = options.realIpHeader === 'x-real-ip' ? [head.realIp] : headerValues(head.block, options.realIpHeader);
  const addresses = told.flatMap((value) => value.split(',')).map((value) => bareAddress(value.trim()));
  for (let at = addresses.length - 1; at >= 0; at--) {
    const address = addresses[at] as string;
    if (isIP(address) === 0) return;
    x.clientIp = address;
    if (!options.realIpRecursive || !trusted.has(address)) return;
  }
}

/** `1.2.3.4:567` and `[::1]:567` without the port. */
function bareAddress(value: string): string {
  if (value.startsWith('[')) return value.slice(1, value.indexOf(']'));
  return value.includes('.') && value.includes(':') ? value.slice(0, value.indexOf(':')) : value;
}

/** Host as the client meant it: without the port. */
export function clientHost(x: Exchange): string {
  return x.peer.trusted && x.head.forwardedHost !== '' ? x.head.forwardedHost : hostName(x.head.host);
}
