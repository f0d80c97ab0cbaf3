import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The one spelling of an IP address that the gateway compares, counts, hashes and logs; null when the text is not an
 * address. IPv6 is written as in RFC 5952 and without its zone. An IPv4 address inside an IPv6 one is returned as IPv4:
 * mapped (`::ffff:0:0/96`, as dual-stack sockets and proxies write it) and behind NAT64 (`64:ff9b::/96`, RFC 6052).
 */
export function canonicalIp(text: string): string | null {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return null;
  const groups = ipv6Groups(text);
  const embedded = embeddedIpv4(groups);
  return embedded < 0 ? new ipaddr.IPv6([...groups]).toRFC5952String() : dotted(embedded);
}

/**
 * The canonical form of an address as proxies write it into header fields: with whitespace around it, a port
 * (`192.0.2.1:80`, `[2001:db8::1]:80`), brackets or a zone. Null for other text.
 */
export function ipInHeader(text: string): string | null {
  const value = text.trim();
  if (value.startsWith('[')) {
    const end = value.indexOf(']');
    return end > 0 && portOrNothing.test(value.slice(end + 1)) ? canonicalIp(value.slice(1, end)) : null;
  }
  return canonicalIp(value.replace(portAfterIpv4, '$1'));
}

const portOrNothing = /^(?::\d{1,5})?$/;
/** A last group is a port only after dots: in `2001:db8::1:80` it belongs to the address. */
const portAfterIpv4 = /(\.\d{1,3}):\d{1,5}$/;

/** The eight groups of text that `isIPv6` accepts. The zone is ignored. */
export function ipv6Groups(text: string): readonly number[] {
  const zone = text.indexOf('%');
  const address = zone < 0 ? text : text.slice(0, zone);
  const gap = address.indexOf('::');
  if (gap < 0) return groupsOf(address);
  const before = groupsOf(address.slice(0, gap));
  const after = groupsOf(address.slice(gap + 2));
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function groupsOf(text: string): number[] {
  const groups: number[] = [];
  if (text === '') return groups;
  for (const group of text.split(':')) {
    if (!group.includes('.')) groups.push(Number.parseInt(group, 16));
    else {
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
      groups.push(a * 256 + b, c * 256 + d);
    }
  }
  return groups;
}

/** The IPv4 address in a mapped or NAT64 address as a number; -1 when there is none. */
export function embeddedIpv4(groups: readonly number[]): number {
  const [a, b, c, d, e, f, high = 0, low = 0] = groups;
  if (b === 0xff9b ? a !== 0x64 || f !== 0 : a !== 0 || b !== 0 || f !== 0xffff) return -1;
  return c === 0 && d === 0 && e === 0 ? high * 0x10000 + low : -1;
}

function dotted(number: number): string {
  return `${number >>> 24}.${(number >>> 16) & 0xff}.${(number >>> 8) & 0xff}.${number & 0xff}`;
}
