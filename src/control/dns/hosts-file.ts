import { isIP } from 'node:net';

/** Addresses of one name in a hosts file. */
export interface HostAddresses {
  readonly ipv4: string | null;
  readonly ipv6: string | null;
}

export type Hosts = ReadonlyMap<string, HostAddresses>;

/** Reads hosts(5). Of several lines with a name, the first one of each family applies, as in Kong. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, HostAddresses>();
  for (const line of text.split('\n')) {
    const [ip = '', ...names] = line.replace(/#.*$/, '').trim().split(/\s+/);
    const family = isIP(ip);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = hosts.get(key) ?? { ipv4: null, ipv6: null };
      hosts.set(key, family === 4 ? { ...known, ipv4: known.ipv4 ?? ip } : { ...known, ipv6: known.ipv6 ?? ip });
    }
  }
  return hosts;
}

/** `localhost` and names below it are this machine, whatever a server answers (RFC 6761 6.3). */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}
