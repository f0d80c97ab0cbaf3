import { isIP } from 'node:net';

/** The addresses of the host names of a config: each name has one of its own, in 198.18.0.0/15 (RFC 2544, for tests). */
export class HostNames {
  readonly #ips = new Map<string, string>();
  readonly #hosts = new Map<string, string>();

  ipOf(host: string): string {
    if (isIP(host) !== 0) return host;
    const known = this.#ips.get(host);
    if (known !== undefined) return known;
    const number = this.#ips.size + 1;
    const ip = `198.${18 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
    this.#ips.set(host, ip);
    this.#hosts.set(ip, host);
    return ip;
  }

  /** The name that has this address, or the address. */
  hostOf(ip: string): string {
    return this.#hosts.get(ip) ?? ip;
  }
}
