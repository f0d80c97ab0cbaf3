import type { Inspection } from '../../../shared/proxy-protocol/first-bytes.ts';

/** Maximum bytes of a head; longer ones are forwarded to the control plane. */
export const maxHeadLength = 8192;

/** A readiness request that the readiness thread answers, or null: the control plane answers. */
export interface ReadyRequest {
  readonly withBody: boolean;
  readonly keepAlive: boolean;
}

const requestLine = /^(GET|HEAD) \/status\/ready(?:\?[!-~]*)? HTTP\/1\.([01])$/;
/** Requests with one of these need more than a plain answer. */
const unusual = /^(?:content-length|transfer-encoding|expect|upgrade|origin|access-control-[a-z-]+)[ \t]*:/i;
const headerLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*$/;

/**
 * Looks at the first bytes of a request. Everything except a plain readiness request is forwarded unchanged to the control
 * plane, which implements all rules. `hostIsAllowed`: whether the control plane would answer a request with that `Host`.
 */
export function inspectHead(bytes: Buffer, hostIsAllowed: (host: string) => boolean): Inspection<ReadyRequest | null> {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return bytes.length < maxHeadLength && canBecome(bytes) ? { kind: 'more' } : forwarded;
  // Pipelined requests: the server of the control plane stops reading when the client does.
  if (bytes.length > end + 4) return forwarded;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const line = requestLine.exec(first);
  if (line === null || lines.some((one) => !headerLine.test(one) || unusual.test(one))) return forwarded;
  const hosts = valuesOf(lines, 'host');
  // HAProxy's default check is HTTP/1.0 without a host, which browsers never send.
  const needsNoHost = line[2] === '0' && hosts.length === 0;
  if (!needsNoHost && (hosts.length !== 1 || !hostIsAllowed(hosts[0]!))) return forwarded;
  const connection = valuesOf(lines, 'connection').join(',').toLowerCase();
  const keepAlive = line[2] === '1' ? !connection.includes('close') : connection.includes('keep-alive');
  return { kind: 'done', consumed: end + 4, value: { withBody: line[1] === 'GET', keepAlive } };
}

const forwarded: Inspection<null> = { kind: 'done', consumed: 0, value: null };
const methods = ['GET /status/ready', 'HEAD /status/ready'];

/** A request for something else is forwarded before its head is complete. */
function canBecome(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 20);
  return methods.some((method) => method.startsWith(start.slice(0, method.length)));
}

function valuesOf(lines: readonly string[], name: string): readonly string[] {
  return lines
    .filter((line) => line.toLowerCase().startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).trim());
}
