import { canonicalIp } from './ip-address.ts';

/** The canonical form of a socket's address. */
export function plainIp(ip: string): string {
  return ip.includes(':') ? (canonicalIp(ip) ?? ip) : ip;
}
