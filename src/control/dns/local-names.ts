import { type Hosts, isLocalhost, parseHosts } from './hosts-file.ts';
import { WatchedFile } from './watched-file.ts';

/** Milliseconds until a name of the hosts file is checked again; that sends no query. */
export const localTtl = 5_000;

/** Names that need no server: those of the hosts file, and this machine. */
export class LocalNames {
  readonly #hosts: WatchedFile<Hosts>;
  readonly #preferIpv6: boolean;

  /** `preferIpv6`: which address to use of a name with both families. */
  constructor(hostsFile: string, preferIpv6: boolean) {
    this.#hosts = new WatchedFile(hostsFile, parseHosts);
    this.#preferIpv6 = preferIpv6;
  }

  /** Null: the servers have to be queried. The name is in lower case, without the final dot. */
  async find(name: string): Promise<string | null> {
    const listed = (await this.#hosts.current()).get(name);
    if (listed === undefined) return isLocalhost(name) ? '127.0.0.1' : null;
    const { ipv4, ipv6 } = listed;
    return this.#preferIpv6 ? (ipv6 ?? ipv4) : (ipv4 ?? ipv6);
  }
}
