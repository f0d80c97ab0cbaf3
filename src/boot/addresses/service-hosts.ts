import type { SnapshotDelta } from '../../shared/messages/messages.ts';

/** The hosts of all services of the config. */
export class ServiceHosts {
  readonly #hostOf = new Map<string, string>();
  /** How many services have the host. */
  readonly #services = new Map<string, number>();

  has(host: string): boolean {
    return this.#services.has(host);
  }

  /** Applies a change of the config. Returns the hosts that no service has any more. */
  change({ removes, upserts }: SnapshotDelta): readonly string[] {
    const left = new Set<string>();
    for (const id of removes.services ?? []) this.#remove(id, left);
    for (const { id, host } of upserts.services ?? []) {
      this.#remove(id, left);
      if (typeof host !== 'string') continue;
      this.#hostOf.set(id, host);
      this.#services.set(host, (this.#services.get(host) ?? 0) + 1);
    }
    return [...left].filter((host) => !this.#services.has(host));
  }

  #remove(id: string, left: Set<string>): void {
    const host = this.#hostOf.get(id);
    if (host === undefined) return;
    this.#hostOf.delete(id);
    left.add(host);
    const others = (this.#services.get(host) ?? 1) - 1;
    if (others > 0) this.#services.set(host, others);
    else this.#services.delete(host);
  }
}
