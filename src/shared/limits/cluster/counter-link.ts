import { LimiterUnavailable } from '../../../plugin-sdk/limits.ts';
import type { Lease, LeaseRequest, LeaseWindow } from '../lease.ts';

/** Milliseconds that the store may take for a batch, the round trip included. */
export const answerTimeout = 2000;

/** Milliseconds between attempts to reach an unavailable store: the first pause and the maximum. */
const firstPause = 250;
const maxPause = 2000;

/** Maximum requests in one batch. A job is not divided. */
const batchSize = 200;

/** Maximum debts that are kept. Debts of further counters are dropped while the store is unavailable. */
const maxDebts = 10_000;

export type RequestLeases = (requests: readonly LeaseRequest[]) => Promise<readonly Lease[]>;

/** Something to request from the store. What arrives until it is sent can still join it. */
export interface LeaseJob {
  /** Called when the job is sent. */
  requests(): readonly LeaseRequest[];
  /** In the order of the requests. */
  answered(leases: readonly Lease[]): void;
  /** Called instead of `answered`. */
  failed(error: LimiterUnavailable): void;
  /** After `failed`: the store has granted this all the same. */
  late(leases: readonly Lease[]): void;
}

/**
 * The way of a limiter to the counters of the relational store. One batch is in flight at a time, and jobs that arrive meanwhile form
 * the next. While the store is known to be unavailable, every job fails at once, and a probe runs in the background.
 *
 * What is owed to the store may reach it twice when an answer is lost, what is given back at most once: a lost answer never leads to
 * more than the limit.
 */
export class CounterLink {
  readonly #send: RequestLeases;
  #jobs: LeaseJob[] = [];
  #returns: LeaseRequest[] = [];
  readonly #debts = new Map<string, LeaseRequest>();
  #busy = false;
  #unavailable: string | null = null;
  #pause = firstPause;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(send: RequestLeases) {
    this.#send = send;
  }

  /** Why jobs fail at present; null: the store answers, as far as is known. */
  get failure(): LimiterUnavailable | null {
    return this.#unavailable === null ? null : unavailable(this.#unavailable);
  }

  submit(job: LeaseJob): void {
    const failure = this.#closed ? unavailable('the limiter is closed') : this.failure;
    if (failure !== null) {
      job.failed(failure);
      return;
    }
    this.#jobs.push(job);
    this.#begin();
  }

  /** Counts later, when the store is available again: it was accepted while the store was unavailable. */
  owe(window: LeaseWindow, cost: number): void {
    const id = `${window.key}\n${window.windowStart}`;
    const known = this.#debts.get(id)?.wanted ?? 0;
    if (known === 0 && this.#debts.size >= maxDebts) return;
    this.#debts.set(id, { windows: [window], wanted: known + cost, unit: 1, force: true });
  }

  /** Gives back what was leased and not used. If that fails, it counts as used until its window ends. */
  giveBack(window: LeaseWindow, amount: number): void {
    if (this.#unavailable !== null) return;
    this.#returns.push({ windows: [window], wanted: -amount, unit: 1, force: true });
    if (this.#closed) this.#sendReturns();
    else this.#begin();
  }

  /** Sends what is given back, and fails the jobs that wait. Answers to what was sent still arrive. */
  close(): void {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
    this.#sendReturns();
    const jobs = this.#jobs;
    this.#jobs = [];
    for (const job of jobs) job.failed(unavailable('the limiter is closed'));
  }

  /** After all other work of this event loop iteration, so that it goes in one batch. */
  #begin(): void {
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    while (this.#unavailable === null && this.#jobs.length + this.#returns.length > 0) {
      // Debts are paid first, or more would be granted than is left.
      if (this.#debts.size > 0) await this.#payIn();
      else await this.#sendBatch();
    }
    this.#busy = false;
  }

  async #sendBatch(): Promise<void> {
    // First, so that what is given back can be granted again in this batch; not all of them, so that nobody waits for many.
    const requests = this.#returns.splice(0, batchSize / 2);
    const returned = requests.length;
    const jobs: { readonly job: LeaseJob; readonly from: number; readonly to: number }[] = [];
    while (requests.length < batchSize && this.#jobs.length > 0) {
      const job = this.#jobs.shift()!;
      const from = requests.length;
      requests.push(...job.requests());
      jobs.push({ job, from, to: requests.length });
    }
    if (requests.length === 0) return;
    const leases = this.#send(requests);
    try {
      const answers = await inTime(leases);
      if (answers.length !== requests.length) throw new Error('not every request of the batch was answered');
      for (const { job, from, to } of jobs) job.answered(answers.slice(from, to));
    } catch (error) {
      this.#failed(
        jobs.map(({ job }) => job),
        error,
      );
      if (returned === requests.length) return;
      leases.then(
        (answers) => {
          if (answers.length !== requests.length) return;
          for (const { job, from, to } of jobs) job.late(answers.slice(from, to));
        },
        () => undefined,
      );
    }
  }

  async #payIn(): Promise<void> {
    try {
      await this.#pay();
    } catch (error) {
      this.#failed([], error);
    }
  }

  #failed(sent: readonly LeaseJob[], error: unknown): void {
    const reason = messageOf(error);
    this.#markUnavailable(reason);
    const waiting = this.#jobs;
    this.#jobs = [];
    // What could not be sent either counts as used.
    this.#returns = [];
    for (const job of [...sent, ...waiting]) job.failed(unavailable(reason));
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

  #sendReturns(): void {
    const returns = this.#returns.splice(0);
    if (returns.length > 0) this.#send(returns).catch(() => undefined);
  }
}

/** Reads a counter that is never used. */
const probe: LeaseRequest = Object.freeze({
  windows: [{ key: 'probe', windowStart: 0, keepFor: 0, limit: 0, previous: null }],
  wanted: 0,
  unit: 1,
  force: false,
});

async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${answerTimeout} ms`)), answerTimeout);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(reason: string): LimiterUnavailable {
  return new LimiterUnavailable(`the counter store does not answer: ${reason}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
