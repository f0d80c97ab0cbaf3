import { LimiterUnavailable } from '../../../plugin-sdk/limits.ts';
import type { Lease, LeaseRequest, LeaseWindow } from '../lease.ts';

/** Milliseconds that the store may take for a batch, the round trip included. */
const answerTimeout = 2000;

/** Milliseconds between attempts to reach an unavailable store: the first pause and the maximum. */
const firstPause = 250;
const maxPause = 2000;

/** Maximum requests in one batch. */
const batchSize = 200;

/** Maximum debts that are kept. Debts of further keys are dropped while the store is unavailable. */
const maxDebts = 10_000;

/** The share of one waiter: granted or not, and the counts after it. */
export interface Share {
  readonly granted: boolean;
  readonly used: readonly number[];
  readonly before: readonly number[];
}

interface Waiter {
  readonly resolve: (share: Share) => void;
  readonly reject: (error: LimiterUnavailable) => void;
}

/** Requests for the same windows, which are sent together. */
interface Group {
  readonly windows: readonly LeaseWindow[];
  readonly unit: number;
  readonly force: boolean;
  readonly waiters: Waiter[];
}

export type RequestLeases = (requests: readonly LeaseRequest[]) => Promise<readonly Lease[]>;

/**
 * Requests from the relational store exactly what waiting requests need: one batch is in flight at a time, and requests
 * that arrive meanwhile form the next. Nothing is reserved in advance, so nothing is stranded on a node that does not
 * use it.
 *
 * While the store is known to be unavailable, every request is rejected at once, and a probe runs in the background.
 */
export class LeaseQueue {
  readonly #send: RequestLeases;
  #groups = new Map<string, Group>();
  #debts = new Map<string, LeaseRequest>();
  #busy = false;
  #unavailable: string | null = null;
  #pause = firstPause;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(send: RequestLeases) {
    this.#send = send;
  }

  /** Requests `unit` of each window; 0 returns only the counts. Rejects with a `LimiterUnavailable`. */
  ask(windows: readonly LeaseWindow[], unit: number, force: boolean): Promise<Share> {
    if (this.#unavailable !== null) return Promise.reject(unavailable(this.#unavailable));
    if (this.#closed) return Promise.reject(unavailable('the limiter is closed'));
    const id = idOf(windows, unit, force);
    let group = this.#groups.get(id);
    if (group === undefined) {
      group = { windows, unit, force, waiters: [] };
      this.#groups.set(id, group);
    }
    const { waiters } = group;
    const share = new Promise<Share>((resolve, reject) => waiters.push({ resolve, reject }));
    if (!this.#busy) this.#begin();
    return share;
  }

  /** Counts later, when the store is available again: it was accepted while the store was unavailable. */
  owe(windows: readonly LeaseWindow[], cost: number): void {
    const id = idOf(windows, 0, true);
    const known = this.#debts.get(id)?.wanted ?? 0;
    if (known === 0 && this.#debts.size >= maxDebts) return;
    this.#debts.set(id, { windows, wanted: known + cost, unit: cost, force: true });
  }

  close(): void {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }

  /** After all other work of this event loop iteration, so that it goes in one batch. */
  #begin(): void {
    this.#busy = true;
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    while (this.#groups.size > 0 && this.#unavailable === null) {
      // Debts are paid first, or more would be granted than is left.
      if (this.#debts.size > 0) await this.#payIn();
      else await this.#sendBatch(this.#nextBatch());
    }
    this.#busy = false;
  }

  #nextBatch(): readonly Group[] {
    const batch: Group[] = [];
    for (const [id, group] of this.#groups) {
      batch.push(group);
      this.#groups.delete(id);
      if (batch.length === batchSize) break;
    }
    return batch;
  }

  async #sendBatch(batch: readonly Group[]): Promise<void> {
    try {
      const leases = await inTime(
        this.#send(
          batch.map(({ windows, unit, force, waiters }) => ({
            windows,
            wanted: unit * waiters.length,
            unit: Math.max(1, unit),
            force,
          })),
        ),
      );
      batch.forEach((group, at) => void shareOut(group, leases[at]));
    } catch (error) {
      this.#failed(batch, error);
    }
  }

  async #payIn(): Promise<void> {
    try {
      await this.#pay();
    } catch (error) {
      this.#failed([], error);
    }
  }

  #failed(batch: readonly Group[], error: unknown): void {
    const reason = messageOf(error);
    this.#markUnavailable(reason);
    for (const group of [...batch, ...this.#groups.values()]) {
      for (const waiter of group.waiters) waiter.reject(unavailable(reason));
    }
    this.#groups.clear();
  }

  #markUnavailable(reason: string): void {
    this.#unavailable = reason;
    if (this.#closed || this.#retry !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      void this.#tryAgain();
    }, this.#pause);
    this.#retry.unref();
    this.#pause = Math.min(maxPause, this.#pause * 2);
  }

  /**
   * Pays some debts, or only probes whether the store answers. After that no new debts are added: while requests arrive
   * faster than debts are paid, waiting for the last debt would never end.
   */
  async #tryAgain(): Promise<void> {
    this.#busy = true;
    try {
      if (this.#debts.size > 0) await this.#pay();
      else await inTime(this.#send([probe]));
    } catch (error) {
      this.#busy = false;
      this.#markUnavailable(messageOf(error));
      return;
    }
    this.#unavailable = null;
    this.#pause = firstPause;
    while (this.#debts.size > 0 && this.#unavailable === null) await this.#payIn();
    await this.#work();
  }

  async #pay(): Promise<void> {
    const debts = [...this.#debts].slice(0, batchSize);
    await inTime(this.#send(debts.map(([, debt]) => debt)));
    for (const [id, debt] of debts) this.#paid(id, debt.wanted);
  }

  /** Debts may have grown while the payment was in flight. */
  #paid(id: string, amount: number): void {
    const debt = this.#debts.get(id);
    if (debt === undefined) return;
    if (debt.wanted <= amount) this.#debts.delete(id);
    else this.#debts.set(id, { ...debt, wanted: debt.wanted - amount });
  }
}

/** Reads a counter that is never used. */
const probe: LeaseRequest = Object.freeze({
  windows: [{ key: 'probe', windowStart: 0, keepFor: 0, limit: 0, previous: null }],
  wanted: 0,
  unit: 1,
  force: false,
});

/** First come, first served. */
function shareOut({ waiters, unit }: Group, lease: Lease | undefined): void {
  if (lease === undefined) throw new Error('missing answer to a request in the batch');
  const { used, before, granted } = lease;
  const served = unit === 0 ? waiters.length : Math.floor(granted / unit);
  waiters.forEach((waiter, at) => {
    const isServed = at < served;
    const later = isServed && unit > 0 ? granted - unit * (at + 1) : 0;
    waiter.resolve({ granted: isServed, used: later === 0 ? used : used.map((count) => count - later), before });
  });
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${answerTimeout} ms`)), answerTimeout);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function idOf(windows: readonly LeaseWindow[], unit: number, force: boolean): string {
  let id = `${unit}${force ? '!' : ''}`;
  for (const { key, windowStart } of windows) id += `\n${key}\n${windowStart}`;
  return id;
}

function unavailable(reason: string): LimiterUnavailable {
  return new LimiterUnavailable(`the counter store does not answer: ${reason}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
