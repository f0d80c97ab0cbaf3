import type { RawRequest } from '../../shared/traffic/raw-request.ts';
import { ParsedRequest } from '../http1/parsed-request.ts';
import type { Exchange } from '../request/exchange.ts';

/** Characters. A longer request is not kept, so a dry run leaves it out. */
const maxRaw = 131_072;

/** JSON of the `RawRequest` of an exchange; '' if it is too long. Call it after the answer. */
export function rawRequest(x: Exchange): string {
  const { head, peer } = x;
  // The fields for an explanation carry the debug token, and a dry run explains nothing.
  const { debug: _, forwardBlock, ...fields } = head;
  const raw: RawRequest = {
    at: x.startedAt,
    head: fields,
    withheld: withheldLines(head.block, forwardBlock),
    peerIp: peer.peerIp,
    peerPort: peer.peerPort,
    localIp: peer.localIp,
    localPort: peer.localPort,
    scheme: peer.scheme,
    sni: peer.sni,
    trusted: peer.trusted,
    tls: peer.tls,
    certificates: peer.clientCertificates?.map((der) => Buffer.from(der).toString('base64')) ?? null,
    requested: x.snapshot.wantsClientCertificates,
    draw: x.draw,
    backendStatus: x.upstreamStatus,
    error: x.error?.code ?? null,
  };
  const text = JSON.stringify(raw);
  return text.length > maxRaw ? '' : text;
}

/** Numbers of the lines of the block that do not go to the backend: far shorter than those that do. */
function withheldLines(block: string, forwarded: string): readonly number[] {
  const withheld: number[] = [];
  let at = 0;
  for (let from = 0, number = 0; from < block.length; number++) {
    const end = block.indexOf('\n', from) + 1 || block.length;
    const line = block.slice(from, end);
    if (forwarded.startsWith(line, at)) at += line.length;
    else withheld.push(number);
    from = end;
  }
  return withheld;
}

/** The parsed head of a raw request. */
export function headOf({ head, withheld }: RawRequest): ParsedRequest {
  const parsed = Object.assign(new ParsedRequest(), head);
  const lines = parsed.block.split(/(?<=\n)/);
  const left = new Set(withheld);
  parsed.forwardBlock = lines.filter((_, number) => !left.has(number)).join('');
  return parsed;
}
