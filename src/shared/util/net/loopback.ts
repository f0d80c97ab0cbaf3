import { isIPv4 } from 'node:net';

/** Whether only programs on this machine can reach an address; a name other than `localhost` counts as reachable. */
export function isLoopback(ip: string): boolean {
  return ip === 'localhost' || ip === '::1' || (isIPv4(ip) && ip.startsWith('127.'));
}
