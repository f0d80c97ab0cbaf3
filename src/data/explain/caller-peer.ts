import type { DownstreamPeer } from '../request/exchange.ts';

/** The peer of a request that the Admin API sends for a caller: as if the caller had opened the connection itself. */
export function callerPeer(peer: DownstreamPeer, ip: string, trusted: boolean): DownstreamPeer {
  const { peerPort, localIp, localPort, scheme, sni, serial, tls, clientCertificates, requests, calls, bodies } = peer;
  const connection = { localIp, localPort, scheme, sni, serial, tls, clientCertificates, requests, calls, bodies };
  return { ...connection, peerIp: ip, peerPort, trusted, lines: '', linesHost: '', logged: null, recorded: null };
}
