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
  const hops = told.flatMap((value) => value.split(','));
  x.clientIp = trusted.clientOf(hops, x.clientIp, options.realIpRecursive);
}

/** Host as the client meant it: without the port. */
export function clientHost(x: Exchange): string {
  return x.peer.trusted && x.head.forwardedHost !== '' ? x.head.forwardedHost : hostName(x.head.host);
}
