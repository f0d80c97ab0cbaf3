import { isIPv4, isIPv6 } from 'node:net';
import { canonicalIp } from '../util/net/ip-address.ts';
import type { Inspection } from './first-bytes.ts';

/** The client's address and port, as a proxy in front of the gateway has sent it. */
export interface ProxiedAddress {
  /** In canonical form. */
  readonly ip: string;
  readonly port: number;
}

/**
 * The content of a PROXY header: null when it has no address (`UNKNOWN`, `LOCAL`, as in health checks of load
 * balancers).
 */
export type ProxyHeader = ProxiedAddress | null;

/** `PROXY TCP6 <39> <39> <5> <5>` and CRLF (section 2.1 of the protocol). */
const maxV1Length = 107;
const fixedV2 = 16;
/** Maximum length of addresses and TLVs in version 2. The known fields fit into a tenth of it. */
const maxV2Length = 4096;
/** A header must be complete within this many bytes. */
export const maxProxyHeaderLength: number = fixedV2 + maxV2Length;

const prefixV1 = Buffer.from('PROXY ');
const signatureV2 = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);

/**
 * Parses a header of the PROXY protocol, version 1 or 2 (haproxy.org/download/3.0/doc/proxy-protocol.txt), strictly:
 * anything else is rejected at the first byte that shows it.
 */
export function inspectProxyHeader(bytes: Buffer): Inspection<ProxyHeader> {
  if (bytes[0] === prefixV1[0]) return beginsAs(prefixV1, bytes) ? inspectV1(bytes) : notOne;
  return beginsAs(signatureV2, bytes) ? inspectV2(bytes) : notOne;
}

const more: Inspection<never> = { kind: 'more' };
const notOne: Inspection<never> = { kind: 'bad', reason: 'no PROXY header' };

function bad(reason: string): Inspection<never> {
  return { kind: 'bad', reason: `bad PROXY header: ${reason}` };
}

/** Compares as many bytes as there are. */
function beginsAs(start: Buffer, bytes: Buffer): boolean {
  const length = Math.min(start.length, bytes.length);
  return bytes.compare(start, 0, length, 0, length) === 0;
}

function inspectV1(bytes: Buffer): Inspection<ProxyHeader> {
  const head = bytes.subarray(0, maxV1Length);
  const end = head.indexOf(0x0a);
  if (end < 0) return head.length < maxV1Length ? more : bad('longer than 107 bytes');
  if (head[end - 1] !== 0x0d) return bad('a line that does not end in CRLF');
  const line = head.toString('latin1', prefixV1.length, end - 1);
  if (line.includes('\r')) return bad('a bare CR');
  const value = parseLine(line);
  return value === undefined ? bad('it does not follow the grammar of version 1') : done(end + 1, value);
}

const lineForm =
  /^(?<family>TCP4|TCP6) (?<source>[0-9a-fA-F.:]+) (?<target>[0-9a-fA-F.:]+) (?<from>\d{1,5}) (?<to>\d{1,5})$/;

/** Undefined: not such a line. */
function parseLine(line: string): ProxyHeader | undefined {
  // The rest after the word must be ignored, but only with a space between them.
  if (line === 'UNKNOWN' || line.startsWith('UNKNOWN ')) return null;
  const parts = lineForm.exec(line)?.groups;
  if (parts === undefined) return undefined;
  const { family, source = '', target = '', from = '', to = '' } = parts;
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6;
  if (!isAddress(source) || !isAddress(target) || !isPort(from) || !isPort(to)) return undefined;
  return { ip: canonicalIp(source) ?? source, port: Number(from) };
}

function isPort(digits: string): boolean {
  return (digits === '0' || !digits.startsWith('0')) && Number(digits) <= 0xffff;
}

function inspectV2(bytes: Buffer): Inspection<ProxyHeader> {
  if (bytes.length < fixedV2) return more;
  const length = bytes.readUInt16BE(14);
  if (length > maxV2Length) return bad(`longer than ${maxProxyHeaderLength} bytes`);
  const end = fixedV2 + length;
  switch (bytes[12]) {
    case 0x20:
      // The proxy speaks for itself, whatever addresses it sends.
      return bytes.length < end ? more : done(end, null);
    case 0x21:
      break;
    default:
      return bad('an unknown version or command');
  }
  const family = bytes[13];
  const needed = family === 0x11 ? 12 : family === 0x21 ? 36 : family === 0x00 ? 0 : -1;
  if (needed < 0) return bad('an address that is neither TCP over IPv4 nor over IPv6');
  if (length < needed) return bad('cut addresses');
  if (bytes.length < end) return more;
  if (family === 0x00) return done(end, null);
  // Source address, destination address, source port, destination port. TLVs follow, and are skipped.
  const addressLength = (needed - 4) / 2;
  const ip = ipOf(bytes.subarray(fixedV2, fixedV2 + addressLength));
  return done(end, { ip, port: bytes.readUInt16BE(fixedV2 + 2 * addressLength) });
}

function done(consumed: number, value: ProxyHeader): Inspection<ProxyHeader> {
  return { kind: 'done', consumed, value };
}

function ipOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  const ip = groups.join(':');
  return canonicalIp(ip) ?? ip;
}
