import { type IpSet, ipSet } from './ip-set.ts';

/** The addresses and ranges of `trusted_ips`. */
export class TrustedPeers {
  readonly #set: IpSet;

  constructor(entries: readonly string[]) {
    this.#set = ipSet(entries.filter((entry) => !entry.startsWith('unix:')));
  }

  has(ip: string): boolean {
    return this.#set.size > 0 && this.#set.has(ip);
  }
}
