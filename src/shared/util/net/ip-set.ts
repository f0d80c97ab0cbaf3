import { isIP } from 'node:net';
import { embeddedIpv4, ipv6Groups } from './ip-address.ts';

/** A fixed set of IPv4 and IPv6 addresses and ranges. */
export interface IpSet {
  /** Number of ranges left after overlapping ones were merged. */
  readonly size: number;
  /** False for what is not an IP address. A mapped or NAT64 IPv6 address counts as the IPv4 address in it. */
  has(ip: string): boolean;
}

interface Range<T> {
  readonly first: T;
  last: T;
}

/**
 * Compiles addresses and CIDR ranges (`10.0.0.0/8`, `2001:db8::1`); host bits below the prefix are ignored. The
 * families are separate: `::/0` is all of IPv6 and no IPv4. Throws an `Error` that names the first invalid entry. A
 * lookup is a binary search; for IPv4 it allocates nothing.
 */
export function ipSet(entries: readonly string[]): IpSet {
  const v4: Range<number>[] = [];
  const v6: Range<bigint>[] = [];
  for (const entry of entries) addEntry(entry, v4, v6);
  const starts4 = merged(v4, (last) => last + 1);
  const starts6 = merged(v6, (last) => last + 1n);
  const first4 = Uint32Array.from(starts4, (range) => range.first);
  const last4 = Uint32Array.from(starts4, (range) => range.last);
  return {
    size: starts4.length + starts6.length,
    has(ip) {
      const number = ipv4Number(ip);
      if (number >= 0) return within(first4, last4, number);
      if (isIP(ip) !== 6) return false;
      const groups = ipv6Groups(ip);
      const embedded = embeddedIpv4(groups);
      return embedded < 0 ? withinWide(starts6, ipv6Number(groups)) : within(first4, last4, embedded);
    },
  };
}

function addEntry(entry: string, v4: Range<number>[], v6: Range<bigint>[]): void {
  const slash = entry.indexOf('/');
  const address = slash < 0 ? entry : entry.slice(0, slash);
  const family = isIP(address);
  const width = family === 4 ? 32 : 128;
  const prefix = slash < 0 ? width : prefixLength(entry.slice(slash + 1), width);
  if (family === 0 || prefix < 0 || address.includes('%')) throw new Error(`invalid ip or cidr range: '${entry}'`);
  if (family === 4) {
    v4.push(range4(ipv4Number(address), prefix));
    return;
  }
  const groups = ipv6Groups(address);
  const embedded = embeddedIpv4(groups);
  if (prefix >= 96 && embedded >= 0) {
    v4.push(range4(embedded, prefix - 96));
    return;
  }
  const number = ipv6Number(groups);
  const hostBits = (1n << BigInt(128 - prefix)) - 1n;
  v6.push({ first: number & ~hostBits, last: number | hostBits });
}

function range4(number: number, prefix: number): Range<number> {
  const size = 2 ** (32 - prefix);
  const first = number - (number % size);
  return { first, last: first + size - 1 };
}

function prefixLength(text: string, width: number): number {
  if (!/^(0|[1-9]\d{0,2})$/.test(text)) return -1;
  const length = Number(text);
  return length <= width ? length : -1;
}

/** Sorted by their starts, without overlapping or adjacent ranges. */
function merged<T extends number | bigint>(ranges: Range<T>[], after: (last: T) => T): readonly Range<T>[] {
  const sorted = ranges.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const result: Range<T>[] = [];
  for (const range of sorted) {
    const previous = result.at(-1);
    if (previous === undefined || range.first > after(previous.last)) result.push({ ...range });
    else if (range.last > previous.last) previous.last = range.last;
  }
  return result;
}

function within(first: Uint32Array, last: Uint32Array, number: number): boolean {
  let low = 0;
  let high = first.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    if (number < first[middle]!) high = middle - 1;
    else if (number > last[middle]!) low = middle + 1;
    else return true;
  }
  return false;
}

function withinWide(ranges: readonly Range<bigint>[], number: bigint): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const range = ranges[middle]!;
    if (number < range.first) high = middle - 1;
    else if (number > range.last) low = middle + 1;
    else return true;
  }
  return false;
}

/** The address as a number, or -1 when the text is not four decimal bytes without leading zeros. */
function ipv4Number(text: string): number {
  const length = text.length;
  if (length < 7 || length > 15) return -1;
  let number = 0;
  let byte = -1;
  let dots = 0;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === 46) {
      if (byte < 0 || ++dots > 3) return -1;
      number = number * 256 + byte;
      byte = -1;
    } else {
      if (code < 48 || code > 57 || byte === 0) return -1;
      byte = (byte < 0 ? 0 : byte * 10) + code - 48;
      if (byte > 255) return -1;
    }
  }
  return dots === 3 && byte >= 0 ? number * 256 + byte : -1;
}

function ipv6Number(groups: readonly number[]): bigint {
  return groups.reduce((number, part) => (number << 16n) | BigInt(part), 0n);
}
