/** Hosts that clients requested; with `allow_any_domain` they can choose any name. */
const maxWaiting = 100;
/** Of these for one client. */
const maxPerClient = maxWaiting / 2;

/** The queue of renewals; no client has this name. */
const renewals = '';

/**
 * Hosts that wait for a certificate, with one queue per client. The queues are served round-robin, so that a client with
 * many hosts does not delay others. If all places are taken, a new client displaces the newest host of the longest queue.
 */
export class HostQueue {
  /** Clients in round-robin order, with their hosts, oldest first. */
  readonly #queues = new Map<string, Set<string>>();
  readonly #clientOf = new Map<string, string>();

  has(host: string): boolean {
    return this.#clientOf.has(host);
  }

  /** Returns the host that was displaced, or the new host if it was refused; null: neither. */
  add(host: string, client: string): string | null {
    if (this.has(host)) return null;
    const own = this.#queues.get(client)?.size ?? 0;
    if (own >= maxPerClient) return host;
    let displaced: string | null = null;
    if (this.#requestedCount() >= maxWaiting) {
      const longest = this.#maxQueueLength();
      if (longest === null || longest.size <= own + 1) return host;
      displaced = [...longest].at(-1) ?? null;
      if (displaced !== null) this.delete(displaced);
    }
    this.#append(host, client);
    return displaced;
  }

  /** A certificate that is in use and expires soon: always accepted. */
  addRenewal(host: string): void {
    this.delete(host);
    this.#append(host, renewals);
  }

  /** Removes and returns the oldest host of the next client. */
  next(): string | null {
    for (const [client, hosts] of this.#queues) {
      const [host] = hosts;
      if (host === undefined) continue;
      this.delete(host);
      if (this.#queues.delete(client)) this.#queues.set(client, hosts);
      return host;
    }
    return null;
  }

  delete(host: string): void {
    const client = this.#clientOf.get(host);
    if (client === undefined) return;
    this.#clientOf.delete(host);
    const hosts = this.#queues.get(client);
    hosts?.delete(host);
    if (hosts?.size === 0) this.#queues.delete(client);
  }

  clear(): void {
    this.#queues.clear();
    this.#clientOf.clear();
  }

  #requestedCount(): number {
    return this.#clientOf.size - (this.#queues.get(renewals)?.size ?? 0);
  }

  #maxQueueLength(): Set<string> | null {
    let longest: Set<string> | null = null;
    for (const [client, hosts] of this.#queues) {
      if (client !== renewals && hosts.size > (longest?.size ?? 0)) longest = hosts;
    }
    return longest;
  }

  #append(host: string, client: string): void {
    let hosts = this.#queues.get(client);
    if (hosts === undefined) {
      hosts = new Set();
      this.#queues.set(client, hosts);
    }
    hosts.add(host);
    this.#clientOf.set(host, client);
  }
}
