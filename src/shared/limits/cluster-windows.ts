import {
  LimiterUnavailable,
  type WindowLimiter,
  type WindowLimiterOptions,
  type WindowPeriod,
  type WindowVerdict,
} from '../../plugin-sdk/limits.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import type { ZoneTable } from '../zones/zone-table.ts';
import { CounterLink } from './cluster/counter-link.ts';
import { type JobHost, KeyJob, type Waiter } from './cluster/key-job.ts';
import type { SeenWindow, Surplus } from './cluster/lease-steps.ts';
import { LeaseTable } from './cluster/lease-table.ts';
import { storedCounterKey } from './counter-key.ts';
import type { LeaseWindow, LimitHost } from './lease.ts';
import { firstFull, shareOfPrevious, verdictOf, type WindowCount, windowAt } from './window-counts.ts';

/** Milliseconds that a counter is kept longer, for nodes whose clocks are behind. */
const slack = 60_000;

/** Maximum keys that are cached as full; they are rejected without a request to the store. */
const maxFullKeys = 10_000;

/** Milliseconds after which the store is queried again all the same: a node may have given back what it did not use. */
const fullLifetime = 250;
/** The same where nothing is leased ahead: only a reset by an operator makes room. */
const exactFullLifetime = 1000;

/** Maximum keys with leases that a worker follows. Further keys get exact grants only. */
const maxLeasedKeys = 10_000;

/** Milliseconds between looks for leases that are not used, and how many are looked at each time. */
const sweepInterval = 100;
const sweptAtOnce = 1000;

interface Answer {
  readonly served: boolean;
  readonly windows: readonly SeenWindow[];
  readonly now: number;
}

interface FullWindow {
  readonly counts: readonly WindowCount[];
  readonly until: number;
}

/**
 * Windows counted in the relational store, and by leases on each node: the store grants a node units of a window, and the workers of
 * the node take them from a zone, without a promise. All nodes together accept no more than the store has granted, and it grants no
 * more than the limit. The windows are those of the node's clock.
 *
 * While the store is unavailable, a node uses what it holds. Beyond that it rejects with a `LimiterUnavailable`, or, with
 * `whenUnavailable: 'local'`, accepts its emergency share (see `LeaseTable.takeEmergency`), which it reports to the store afterwards.
 */
export function createClusterWindows(
  options: WindowLimiterOptions,
  host: Pick<LimitHost, 'lease'>,
  table: ZoneTable,
): WindowLimiter {
  return new ClusterWindows(options, new CounterLink((requests) => host.lease(requests)), table);
}

class ClusterWindows implements WindowLimiter {
  readonly #options: WindowLimiterOptions;
  readonly #sliding: boolean;
  readonly #exact: boolean;
  readonly #link: CounterLink;
  readonly #table: LeaseTable;
  readonly #host: JobHost;
  /** Jobs that are not sent yet, by their keys. */
  readonly #jobs = new Map<string, KeyJob>();
  readonly #full = new BoundedCache<string, FullWindow>(maxFullKeys);
  /** Keys that this worker has received leases of. */
  readonly #leased = new Set<string>();
  #sweep: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: WindowLimiterOptions, link: CounterLink, table: ZoneTable) {
    this.#options = options;
    this.#sliding = options.windowType === 'sliding';
    this.#exact = options.exact ?? false;
    this.#link = link;
    this.#table = new LeaseTable(table, options);
    this.#host = {
      table: this.#table,
      exact: () => this.#exact || this.#leased.size >= maxLeasedKeys,
      windowOf: (at, key, window) => this.#windowOf(at, key, window),
      sent: (job) => this.#jobs.delete(job.key),
      settle: (key, surplus, holds) => this.#settle(key, surplus, holds),
      again: (key, waiters) => this.#again(key, waiters),
    };
  }

  take(key: string, cost = 1): WindowVerdict | Promise<WindowVerdict> {
    const table = this.#table;
    if (table.take(key, cost)) {
      if (table.isLow && this.#link.failure === null) this.#job(key);
      return this.#verdict(table.windows, table.takenAt, -1);
    }
    return this.#refusal(key, cost, table.takenAt) ?? this.#take(key, cost);
  }

  add(key: string, cost: number): WindowVerdict | Promise<WindowVerdict> {
    const table = this.#table;
    const missing = table.drawUpTo(key, cost);
    if (missing.every((units) => units === 0)) {
      if (table.isLow && this.#link.failure === null) this.#job(key);
      return this.#verdict(table.windows, table.takenAt, -1);
    }
    return this.#add(key, cost, missing);
  }

  peek(key: string): WindowVerdict | Promise<WindowVerdict> {
    const table = this.#table;
    if (table.peek(key, 1)) return this.#verdict(table.windows, table.takenAt, -1);
    return this.#peek(key);
  }

  close(): void {
    if (this.#sweep !== null) clearTimeout(this.#sweep);
    this.#sweep = null;
    // Without the store, the leases stay for the next limiter of these keys, or count until their windows end.
    if (this.#link.failure === null) {
      for (const key of this.#leased) this.#giveBack(key, this.#table.takeSurplus(key, true).surplus);
    }
    this.#leased.clear();
    this.#closed = true;
    this.#link.close();
  }

  #take(key: string, cost: number): WindowVerdict | Promise<WindowVerdict> {
    const costs = this.#options.limits.map(() => cost);
    const error = this.#link.failure;
    if (error !== null && this.#isTolerant) return this.#decideAlone(error, key, costs, 'take');
    return this.#ask(cost, (waiter) => this.#job(key).takers.push(waiter)).then(
      ({ served, windows, now }) => {
        if (served) return this.#verdict(windows, now, -1);
        this.#full.set(key, { counts: windows, until: now + (this.#exact ? exactFullLifetime : fullLifetime) });
        // A sliding window may have room again since the batch was built, but the rejection stands.
        return this.#verdict(windows, now, Math.max(0, firstFull(this.#options.limits, windows, now, cost)));
      },
      (failure: unknown) => this.#decideAlone(failure, key, costs, 'take'),
    );
  }

  async #add(key: string, cost: number, missing: readonly number[]): Promise<WindowVerdict> {
    try {
      const { windows, now } = await this.#ask(cost, (waiter) => this.#job(key).adders.push({ missing, waiter }));
      return this.#verdict(windows, now, -1);
    } catch (error) {
      return this.#decideAlone(error, key, missing, 'add');
    }
  }

  async #peek(key: string): Promise<WindowVerdict> {
    try {
      const { windows, now } = await this.#ask(0, (waiter) => this.#job(key).lookers.push(waiter));
      return this.#verdict(windows, now, firstFull(this.#options.limits, windows, now, 1));
    } catch (error) {
      return this.#decideAlone(
        error,
        key,
        this.#options.limits.map(() => 1),
        'peek',
      );
    }
  }

  #ask(cost: number, join: (waiter: Waiter) => void): Promise<Answer> {
    return new Promise((resolve, reject) => {
      join({ cost, resolve: (served, windows, now) => resolve({ served, windows, now }), reject });
    });
  }

  /** The job of a key that is not sent yet. */
  #job(key: string): KeyJob {
    const waiting = this.#jobs.get(key);
    if (waiting !== undefined) return waiting;
    const job = new KeyJob(key, this.#host);
    this.#jobs.set(key, job);
    // After the caller has joined it: a job fails at once while the store is unavailable.
    queueMicrotask(() => this.#link.submit(job));
    return job;
  }

  #again(key: string, waiters: readonly Waiter[]): void {
    const job = this.#job(key);
    job.ignoresHeld = true;
    job.takers.push(...waiters);
  }

  get #isTolerant(): boolean {
    return this.#options.whenUnavailable === 'local';
  }

  /** The store is unavailable. */
  #decideAlone(error: unknown, key: string, costs: readonly number[], what: 'take' | 'add' | 'peek'): WindowVerdict {
    if (!this.#isTolerant || !(error instanceof LimiterUnavailable)) throw error;
    this.#options.onUnavailable?.(error);
    const table = this.#table;
    const { violated, owed } = table.takeEmergency(key, costs, what);
    for (const [at, units] of owed.entries()) {
      if (units > 0) this.#link.owe(this.#windowOf(at, key, table.windows[at]!), units);
    }
    return this.#verdict(table.windows, table.takenAt, violated);
  }

  #settle(key: string, surplus: readonly Surplus[], holds: boolean): void {
    this.#giveBack(key, surplus);
    if (!holds) return;
    if (this.#closed) {
      // The answer came after the end of the limiter.
      this.#giveBack(key, this.#table.takeSurplus(key, true).surplus);
      return;
    }
    this.#leased.add(key);
    this.#sweep ??= this.#later();
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => this.#giveBackUnused(), sweepInterval).unref();
  }

  #giveBackUnused(): void {
    this.#sweep = null;
    let looked = 0;
    for (const key of this.#leased) {
      // While the store is unavailable, what the node holds is all it has.
      if (++looked > sweptAtOnce || this.#link.failure !== null) break;
      const { surplus, holds } = this.#table.takeSurplus(key, false);
      this.#giveBack(key, surplus);
      // To the end: the others have their turn.
      this.#leased.delete(key);
      if (holds) this.#leased.add(key);
    }
    if (this.#leased.size > 0) this.#sweep = this.#later();
  }

  #giveBack(key: string, surplus: readonly Surplus[]): void {
    for (const { at, start, amount } of surplus) {
      const { period } = this.#options.limits[at]!;
      this.#link.giveBack(this.#windowOf(at, key, windowAt(period, start)), amount);
    }
  }

  #verdict(windows: readonly WindowCount[], now: number, violated: number): WindowVerdict {
    return verdictOf(this.#options.limits, windows, now, violated);
  }

  #refusal(key: string, cost: number, now: number): WindowVerdict | null {
    const full = this.#full.get(key);
    if (full === undefined) return null;
    const { limits } = this.#options;
    const over = now >= full.until || full.counts.some((count) => now < count.start || now >= count.end);
    const violated = over ? -1 : firstFull(limits, full.counts, now, cost);
    if (violated >= 0) return verdictOf(limits, full.counts, now, violated);
    if (over) this.#full.delete(key);
    return null;
  }

  #windowOf(at: number, key: string, { start, end }: { readonly start: number; readonly end: number }): LeaseWindow {
    const { period, limit } = this.#options.limits[at]!;
    const { takenAt } = this.#table;
    return {
      key: storedCounterKey(this.#options.namespace, period, key),
      windowStart: start,
      keepFor: Math.max(0, end - takenAt) + slack + (this.#sliding ? end - start : 0),
      limit,
      previous: this.#sliding ? previousOf(period, start, end, takenAt) : null,
    };
  }
}

function previousOf(period: WindowPeriod, start: number, end: number, now: number): LeaseWindow['previous'] {
  return { windowStart: windowAt(period, start - 1).start, share: shareOfPrevious(start, end, now) };
}
