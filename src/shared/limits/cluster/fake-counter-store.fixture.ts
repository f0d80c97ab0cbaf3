import type { Lease, LeaseRequest } from '../lease.ts';
import { grantLease } from './grant-lease.ts';

/** A fake of the relational store, whose own suite is `store/contract/counters.contract.ts`. */
export class FakeCounterStore {
  /** `late`: counts at once, and answers with `answerLate`. */
  state: 'answers' | 'refuses' | 'hangs' | 'late' = 'answers';
  batches = 0;
  /** Reported with each lease; 0: it is not. */
  nodes = 0;
  readonly #late: (() => void)[] = [];
  readonly #counters = new Map<string, number>();

  async lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]> {
    this.batches++;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.state === 'refuses') throw new Error('connection refused');
    if (this.state === 'hangs') return await new Promise(() => undefined);
    const leases = requests.map((request) => this.#grant(request));
    if (this.state === 'late') await new Promise<void>((resolve) => this.#late.push(resolve));
    return leases;
  }

  answerLate(order: 'first first' | 'last first' = 'first first'): void {
    const answers = this.#late.splice(0);
    for (const answer of order === 'last first' ? answers.reverse() : answers) answer();
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

  #grant(request: LeaseRequest): Lease {
    const { windows } = request;
    const before = windows.map(({ key, previous }) => (previous === null ? 0 : this.#used(key, previous.windowStart)));
    const used = windows.map(({ key, windowStart }) => this.#used(key, windowStart));
    const lease = grantLease(request, used, before);
    for (const [at, { key, windowStart }] of windows.entries()) {
      if (lease.taken[at] !== 0) this.#counters.set(`${key}@${windowStart}`, lease.used[at] ?? 0);
    }
    return this.nodes === 0 ? lease : { ...lease, nodes: this.nodes };
  }

  #used(key: string, windowStart: number): number {
    return this.#counters.get(`${key}@${windowStart}`) ?? 0;
  }
}
