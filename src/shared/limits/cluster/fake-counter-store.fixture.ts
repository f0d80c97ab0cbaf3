import type { Lease, LeaseRequest } from '../lease.ts';

/** A fake of the relational store, whose own suite is `store/contract/counters.contract.ts`. */
export class FakeCounterStore {
  state: 'answers' | 'refuses' | 'hangs' = 'answers';
  batches = 0;
  readonly #counters = new Map<string, number>();

  async lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]> {
    this.batches++;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.state === 'refuses') throw new Error('connection refused');
    if (this.state === 'hangs') return await new Promise(() => undefined);
    return requests.map((request) => this.#grant(request));
  }

  keys(): readonly string[] {
    return [...this.#counters.keys()];
  }

  total(): number {
    return [...this.#counters.values()].reduce((sum, used) => sum + used, 0);
  }

  clear(): void {
    this.#counters.clear();
  }

  #grant({ windows, wanted, unit, force }: LeaseRequest): Lease {
    const before = windows.map(({ key, previous }) => (previous === null ? 0 : this.#used(key, previous.windowStart)));
    const rooms = windows.map(
      ({ key, windowStart, limit, previous }, at) =>
        limit - this.#used(key, windowStart) - (before[at] ?? 0) * (previous?.share ?? 0),
    );
    const granted = force ? wanted : Math.max(0, Math.floor(Math.min(wanted, ...rooms) / unit) * unit);
    const used = windows.map(({ key, windowStart }) => {
      const now = this.#used(key, windowStart) + granted;
      if (granted > 0) this.#counters.set(`${key}@${windowStart}`, now);
      return now;
    });
    return { granted, used, before };
  }

  #used(key: string, windowStart: number): number {
    return this.#counters.get(`${key}@${windowStart}`) ?? 0;
  }
}
