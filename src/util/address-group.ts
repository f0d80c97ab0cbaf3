import ipaddr from 'ipaddr.js';
import { BoundedCache } from './bounded-cache.ts';
import { canonicalIp } from './ip-address.ts';

const groups = new BoundedCache<string, string>(4096);

/**
 * What all addresses of one client have in common. A client with IPv6 has a whole network of addresses to choose from,
 * so those that share their first `prefix` bits are one; IPv4 addresses, also within IPv6, stand for themselves.
 */
export function addressGroup(ip: string, prefix: number): string {
  if (!ip.includes(':')) return ip;
  const key = `${prefix}|${ip}`;
  let group = groups.get(key);
  if (group === undefined) {
    group = groupOf(ip, prefix);
    groups.set(key, group);
  }
  return group;
}

function groupOf(text: string, prefix: number): string {
  const ip = canonicalIp(text);
  if (ip === null) return text;
  if (!ip.includes(':')) return ip;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${ip}/${prefix}`).toRFC5952String()}/${prefix}`;
}
