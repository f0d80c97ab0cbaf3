import { type Hosts, isLocalhost, parseHosts } from './hosts-file.ts';
import { WatchedFile } from './watched-file.ts';

/** Names of the hosts file are looked at again so often, in milliseconds; that sends nothing. */
export const localTtl = 5_000;

/** Names that no server is asked for: those of the hosts file, and this machine. */
export class LocalNames {
  readonly #hosts: WatchedFile<Hosts>;
  readonly #preferIpv6: boolean;

  /** `preferIpv6`: of a name with addresses of both families; one that has a single family gives that. */
  constructor(hostsFile: string, preferIpv6: boolean) {
    this.#hosts = new WatchedFile(hostsFile, parseHosts);
    this.#preferIpv6 = preferIpv6;
  }

  /** Null: servers have to be asked. The name is in lower case, without the final dot. */
  async find(name: string): Promise<string | null> {
    const listed = (await this.#hosts.current()).get(name);
    if (listed === undefined) return isLocalhost(name) ? '127.0.0.1' : null;
    const { ipv4, ipv6 } = listed;
    return this.#preferIpv6 ? (ipv6 ?? ipv4) : (ipv4 ?? ipv6);
  }
}
