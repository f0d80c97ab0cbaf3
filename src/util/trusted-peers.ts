import { BlockList, isIP } from 'node:net';

/** The set of `trusted_ips`. */
export class TrustedPeers {
  readonly #list = new BlockList();
  readonly #none: boolean;

  constructor(entries: readonly string[]) {
    const addresses = entries.filter((entry) => !entry.startsWith('unix:'));
    this.#none = addresses.length === 0;
    for (const entry of addresses) {
      const [ip, prefix] = entry.split('/') as [string, string | undefined];
      const family = isIP(ip) === 6 ? 'ipv6' : 'ipv4';
      if (prefix === undefined) this.#list.addAddress(ip, family);
      else this.#list.addSubnet(ip, Number(prefix), family);
    }
  }

  has(ip: string): boolean {
    return !this.#none && isIP(ip) !== 0 && this.#list.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4');
  }
}
