import { maskedTarget } from '../../../shared/logs/masked-arguments.ts';
import { utf8FromLatin1 } from '../../../shared/util/bytes/latin1.ts';
import { maskedHeaders } from '../../answer/log-record.ts';
import type { Exchange } from '../../request/exchange.ts';
import type { ExplainMode } from '../explain-mode.ts';

/** The request as the gateway has parsed it. */
export function requestPart(x: Exchange, mode: ExplainMode): Readonly<Record<string, unknown>> {
  const { head, peer, plan } = x;
  const target = maskedTarget(head.target, plan.secretArguments, plan.logMasks);
  const mark = target.indexOf('?');
  return {
    id: x.id,
    method: head.method,
    scheme: x.clientScheme,
    host: head.host,
    path_as_sent: head.rawPath,
    path: x.path === '' ? null : utf8FromLatin1(x.path),
    query: mark < 0 ? null : target.slice(mark + 1),
    http_version: head.httpVersion,
    headers: maskedHeaders(x, head.block),
    body: bodyText(head.bodyLength),
    client: { ip: x.clientIp, because: whyTrusted(x, mode) },
    connection: {
      peer_ip: peer.peerIp,
      peer_port: peer.peerPort,
      local_port: peer.localPort,
      tls: peer.tls === null ? null : { ...peer.tls, server_name: peer.sni === '' ? null : peer.sni },
    },
  };
}

function bodyText(length: number): string {
  if (length === 0) return 'none';
  return length < 0 ? 'of unknown length' : `${length} bytes`;
}

function whyTrusted({ peer, clientIp }: Exchange, { caller }: ExplainMode): string {
  if (caller !== null && clientIp === peer.peerIp)
    return 'the caller of the Admin API, which has sent the request for it';
  if (!peer.trusted)
    return 'the other end of the connection, which is not one of trusted_ips: what it tells is not believed';
  if (clientIp !== peer.peerIp) return `${peer.peerIp}, one of trusted_ips, names it`;
  return 'the other end of the connection; it is one of trusted_ips, and names no other client';
}
