import ipaddr from 'ipaddr.js';
import { BoundedCache } from '../bounded-cache.ts';
import { canonicalIp } from './ip-address.ts';

const groups = new BoundedCache<string, string>(4096);

/**
 * The common part of all addresses of one client. A client with IPv6 can choose from a whole network of addresses, so
 * those with the same first `prefix` bits count as one. IPv4 addresses, also within IPv6, are kept whole.
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
