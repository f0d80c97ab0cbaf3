import type { Lease, LeaseRequest } from '../../shared/limits/lease.ts';
import type { Store } from '../store/store.ts';

/**
 * Milliseconds between two counts of the nodes, while leases are requested: at least, and for each node, because each count reads the
 * reports of all of them.
 */
const countInterval = 5000;
const countIntervalPerNode = 100;

/** Milliseconds without a report after which a node is not counted: three reports. */
const silence = 15_000;

/** Requests leases for the workers of this node, and tells them how many nodes share a limit. */
export class LeaseDesk {
  readonly #store: Pick<Store, 'leaseCounters' | 'countNodes'>;
  readonly #pending = new Set<Promise<readonly Lease[]>>();
  /** Null: not counted yet. */
  #nodes: number | null = null;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Pick<Store, 'leaseCounters' | 'countNodes'>) {
    this.#store = store;
  }

  async lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]> {
    this.#count();
    const leases = this.#store.leaseCounters(requests);
    this.#pending.add(leases);
    try {
      const granted = await leases;
      const nodes = this.#nodes;
      return nodes === null ? granted : granted.map((lease) => ({ ...lease, nodes }));
    } finally {
      this.#pending.delete(leases);
    }
  }

  /** Resolves when the store has everything that workers have given back. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }

  /** In the background: while the store does not say, the number stays. */
  #count(): void {
    const now = performance.now();
    if (now - this.#countedAt < Math.max(countInterval, (this.#nodes ?? 1) * countIntervalPerNode)) return;
    this.#countedAt = now;
    this.#store.countNodes(['traditional', 'data_plane'], silence).then(
      (nodes) => {
        this.#nodes = Math.max(1, nodes);
      },
      () => undefined,
    );
  }
}
