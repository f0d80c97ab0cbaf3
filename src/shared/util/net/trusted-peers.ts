import { ipInHeader } from './ip-address.ts';
import { type IpSet, ipSet } from './ip-set.ts';

/**
 * Maximum hops that are read: no chain of proxies is longer, and a client can write thousands of trusted addresses into
 * the list.
 */
const maxHops = 100;

/** The addresses and ranges of `trusted_ips`. */
export class TrustedPeers {
  #set: IpSet;

  constructor(entries: readonly string[]) {
    this.#set = setOf(entries);
  }

  /** Applies to connections that are accepted from now on. */
  replace(entries: readonly string[]): void {
    this.#set = setOf(entries);
  }

  has(ip: string): boolean {
    return this.#set.size > 0 && this.#set.has(ip);
  }

  /**
   * The client in a list of addresses that a trusted peer sent, the nearest hop last. `recursive`: trusted hops are
   * skipped. An invalid entry ends the list; returns `peer` when there is no client.
   */
  clientOf(hops: readonly string[], peer: string, recursive: boolean): string {
    const end = Math.max(0, hops.length - (recursive ? maxHops : 1));
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

/** A client has an address: `unix:` never matches. */
function setOf(entries: readonly string[]): IpSet {
  return ipSet(entries.filter((entry) => !entry.startsWith('unix:')));
}
