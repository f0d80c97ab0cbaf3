import { ipInHeader } from './ip-address.ts';
import { type IpSet, ipSet } from './ip-set.ts';

/** Hops that are read: no chain of proxies is longer, and a client can write thousands of trusted addresses into the list. */
const mostHops = 100;

/** The addresses and ranges of `trusted_ips`. */
export class TrustedPeers {
  readonly #set: IpSet;

  constructor(entries: readonly string[]) {
    this.#set = ipSet(entries.filter((entry) => !entry.startsWith('unix:')));
  }

  has(ip: string): boolean {
    return this.#set.size > 0 && this.#set.has(ip);
  }

  /**
   * The client that a trusted peer names in a list of addresses, the nearest hop last. `recursive`: hops that are trusted
   * themselves are skipped. An entry that is no address ends the list; `peer` when it says nothing.
   */
  clientOf(hops: readonly string[], peer: string, recursive: boolean): string {
    const end = Math.max(0, hops.length - (recursive ? mostHops : 1));
    let client = peer;
    for (let at = hops.length - 1; at >= end; at--) {
      const address = ipInHeader(hops[at] as string);
      if (address === null) return client;
      client = address;
      if (!this.has(address)) return client;
    }
    return client;
  }
}
