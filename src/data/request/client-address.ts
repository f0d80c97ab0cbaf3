import { headerValues } from '../../shared/http/header-block.ts';
import { hostName } from '../../shared/util/net/host-header.ts';
import type { TrustedPeers } from '../../shared/util/net/trusted-peers.ts';
import type { Exchange } from './exchange.ts';
import type { ProxyOptions } from './options.ts';

/** Applies the client's address and scheme as reported by a trusted peer. Only for trusted peers. */
export function applyRealIp(x: Exchange, trusted: TrustedPeers, options: ProxyOptions): void {
  const { head } = x;
  const scheme = head.forwardedProto.toLowerCase();
  if (scheme === 'https' || scheme === 'http') x.clientScheme = scheme;
  // The connection's PROXY header has set it already; a header field of that name has no meaning.
  if (options.realIpHeader === 'proxy_protocol') return;
  const values = options.realIpHeader === 'x-real-ip' ? [head.realIp] : headerValues(head.block, options.realIpHeader);
  const hops = values.flatMap((value) => value.split(','));
  x.clientIp = trusted.clientOf(hops, x.clientIp, options.realIpRecursive);
}

/** The client's host without the port. */
export function clientHost(x: Exchange): string {
  return x.peer.trusted && x.head.forwardedHost !== '' ? x.head.forwardedHost : hostName(x.head.host);
}
