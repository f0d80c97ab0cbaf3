import { LimiterUnavailable } from '../../plugin-sdk/limits.ts';
import type { Lease, LeaseRequest, LeaseWindow } from '../lease.ts';

/** Milliseconds that the store may take for a batch, its way there and back included. */
const patience = 2000;

/** Milliseconds between attempts to reach a store that is away: the first pause and the longest. */
const firstPause = 250;
const longestPause = 2000;

/** Requests of one batch at most. */
const batchSize = 200;

/** Debts that are kept at most; what is owed under more keys than these while the store is away is forgiven. */
const mostDebts = 10_000;

/** What one of those who wait gets: granted or not, and the counts as they are after it. */
export interface Share {
  readonly granted: boolean;
  readonly used: readonly number[];
  readonly before: readonly number[];
}

interface Waiter {
  readonly resolve: (share: Share) => void;
  readonly reject: (error: LimiterUnavailable) => void;
}

/** Requests for the same windows, which are asked for together. */
interface Group {
  readonly windows: readonly LeaseWindow[];
  readonly unit: number;
  readonly force: boolean;
  readonly waiters: Waiter[];
}

export type AskForLeases = (requests: readonly LeaseRequest[]) => Promise<readonly Lease[]>;

/**
 * Asks the relational store for exactly as much as requests wait for: one batch is on its way at a time, and what comes
 * meanwhile is the next. Nothing is taken in advance, so nothing is stranded on a node that does not use it.
 *
 * While the store is known to be away everything is refused at once, and a probe goes on in the background.
 */
export class LeaseQueue {
  readonly #ask: AskForLeases;
  #groups = new Map<string, Group>();
  #debts = new Map<string, LeaseRequest>();
  #busy = false;
  #away: string | null = null;
  #pause = firstPause;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(ask: AskForLeases) {
    this.#ask = ask;
  }

  /** Asks for `unit` of each window; for 0: how things stand. Rejects with a `LimiterUnavailable`. */
  ask(windows: readonly LeaseWindow[], unit: number, force: boolean): Promise<Share> {
    if (this.#away !== null) return Promise.reject(unavailable(this.#away));
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

  /** To be counted when the store is back: it was let through while it was away. */
  owe(windows: readonly LeaseWindow[], cost: number): void {
    const id = idOf(windows, 0, true);
    const known = this.#debts.get(id)?.wanted ?? 0;
    if (known === 0 && this.#debts.size >= mostDebts) return;
    this.#debts.set(id, { windows, wanted: known + cost, unit: cost, force: true });
  }

  close(): void {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }

  /** After all that this turn of the event loop brings, so that it goes in one batch. */
  #begin(): void {
    this.#busy = true;
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    while (this.#groups.size > 0 && this.#away === null) {
      // What is owed comes first, or more would be granted than is left.
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
        this.#ask(
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
    this.#stayAway(reason);
    for (const group of [...batch, ...this.#groups.values()]) {
      for (const waiter of group.waiters) waiter.reject(unavailable(reason));
    }
    this.#groups.clear();
  }

  #stayAway(reason: string): void {
    this.#away = reason;
    if (this.#closed || this.#retry !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      void this.#tryAgain();
    }, this.#pause);
    this.#retry.unref();
    this.#pause = Math.min(longestPause, this.#pause * 2);
  }

  /**
   * Pays some of what is owed, or only looks whether the store answers. When it does, nothing more comes to be owed: while
   * requests come faster than they are paid for, one that waited for the last debt would wait for ever.
   */
  async #tryAgain(): Promise<void> {
    this.#busy = true;
    try {
      if (this.#debts.size > 0) await this.#pay();
      else await inTime(this.#ask([probe]));
    } catch (error) {
      this.#busy = false;
      this.#stayAway(messageOf(error));
      return;
    }
    this.#away = null;
    this.#pause = firstPause;
    while (this.#debts.size > 0 && this.#away === null) await this.#payIn();
    await this.#work();
  }

  async #pay(): Promise<void> {
    const debts = [...this.#debts].slice(0, batchSize);
    await inTime(this.#ask(debts.map(([, debt]) => debt)));
    for (const [id, debt] of debts) this.#paid(id, debt.wanted);
  }

  /** More may have been owed while the payment was on its way. */
  #paid(id: string, amount: number): void {
    const debt = this.#debts.get(id);
    if (debt === undefined) return;
    if (debt.wanted <= amount) this.#debts.delete(id);
    else this.#debts.set(id, { ...debt, wanted: debt.wanted - amount });
  }
}

/** Looks at a counter that nobody uses. */
const probe: LeaseRequest = Object.freeze({
  windows: [{ key: 'probe', windowStart: 0, keepFor: 0, limit: 0, previous: null }],
  wanted: 0,
  unit: 1,
  force: false,
});

/** First come, first served. */
function shareOut({ waiters, unit }: Group, lease: Lease | undefined): void {
  if (lease === undefined) throw new Error('the store answers every request of a batch');
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
  const timer = setTimeout(() => reject(new Error(`no answer within ${patience} ms`)), patience);
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
  return new LimiterUnavailable(`the store of the counters does not answer: ${reason}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
