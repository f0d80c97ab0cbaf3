/** Hosts of strangers that wait at most; they choose them where `allow_any_domain` is set. */
const maxWaiting = 100;
/** Of these for one client. */
const maxPerClient = maxWaiting / 2;

/** The node's own renewals; no client has this name. */
const renewals = '';

/**
 * Hosts that wait for a certificate, one line for each client. The lines are served in turn, so that a client with many hosts does
 * not delay the host of another; when all places are taken, a new client displaces the newest host of the client with most of them.
 */
export class WaitingHosts {
  /** Clients in the order of their turns; the hosts of each, oldest first. */
  readonly #lines = new Map<string, Set<string>>();
  readonly #clientOf = new Map<string, string>();

  has(host: string): boolean {
    return this.#clientOf.has(host);
  }

  /** The host that had to make room, or the new one itself; null: none. */
  add(host: string, client: string): string | null {
    if (this.has(host)) return null;
    const own = this.#lines.get(client)?.size ?? 0;
    if (own >= maxPerClient) return host;
    let displaced: string | null = null;
    if (this.#waiting() >= maxWaiting) {
      const largest = this.#largest();
      if (largest === null || largest.size <= own + 1) return host;
      displaced = [...largest].at(-1) ?? null;
      if (displaced !== null) this.delete(displaced);
    }
    this.#append(host, client);
    return displaced;
  }

  /** A certificate that is in use and ends soon: always has room. */
  addRenewal(host: string): void {
    this.delete(host);
    this.#append(host, renewals);
  }

  /** Takes the oldest host of the next client. */
  next(): string | null {
    for (const [client, hosts] of this.#lines) {
      const [host] = hosts;
      if (host === undefined) continue;
      this.delete(host);
      if (this.#lines.delete(client)) this.#lines.set(client, hosts);
      return host;
    }
    return null;
  }

  delete(host: string): void {
    const client = this.#clientOf.get(host);
    if (client === undefined) return;
    this.#clientOf.delete(host);
    const hosts = this.#lines.get(client);
    hosts?.delete(host);
    if (hosts?.size === 0) this.#lines.delete(client);
  }

  clear(): void {
    this.#lines.clear();
    this.#clientOf.clear();
  }

  #waiting(): number {
    return this.#clientOf.size - (this.#lines.get(renewals)?.size ?? 0);
  }

  #largest(): Set<string> | null {
    let largest: Set<string> | null = null;
    for (const [client, hosts] of this.#lines) {
      if (client !== renewals && hosts.size > (largest?.size ?? 0)) largest = hosts;
    }
    return largest;
  }

  #append(host: string, client: string): void {
    let hosts = this.#lines.get(client);
    if (hosts === undefined) {
      hosts = new Set();
      this.#lines.set(client, hosts);
    }
    hosts.add(host);
    this.#clientOf.set(host, client);
  }
}
