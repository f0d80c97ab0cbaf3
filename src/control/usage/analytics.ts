import type { ToWorker } from '../../shared/messages/messages.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { UsageName } from '../../shared/usage/usage-name.ts';
import type { UsageStore } from '../store/usage-store.ts';
import { lengths, resolutions, startOf } from './periods.ts';
import { isUnavailable } from './store-unavailable.ts';
import { UsageCollector } from './usage-collector.ts';
import { type LedgerRow, UsageLedger } from './usage-ledger.ts';
import { UsageReader } from './usage-reader.ts';

export interface AnalyticsOptions {
  readonly settings: Settings['analytics'];
  readonly store: UsageStore;
  readonly node: string;
  /** The memory of each worker. */
  readonly memories: readonly SharedArrayBuffer[];
  /** Numbers of the workers that listen. */
  readonly running: () => readonly number[];
  readonly post: (worker: number, message: ToWorker) => void;
  readonly log: {
    warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
    error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  };
  /** Remove rows that are too old. Default true; a data plane leaves that to its control plane. */
  readonly removesOld?: boolean;
  /** Milliseconds since the epoch; given by tests. */
  readonly now?: () => number;
  /** Time between two collections, in milliseconds. Default 10 seconds. */
  readonly interval?: number;
  /** Maximum wait of a read for workers, in milliseconds. Default 250. */
  readonly readTimeout?: number;
  /** Maximum rows that one request may read. Default 200,000. */
  readonly maxRows?: number;
}

const defaultInterval = 10_000;
/** Maximum wait of a collection for workers, in milliseconds. */
const collectTimeout = 2_000;
const defaultReadTimeout = 250;
/** Maximum rounds of removal after each write. */
const removalRounds = 20;

/** How the API is used: collected from the workers, stored, read by the Admin API. */
export class Analytics {
  readonly #options: AnalyticsOptions;
  readonly #collector: UsageCollector;
  readonly #ledger: UsageLedger;
  readonly #reader: UsageReader;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #flushedMinute: number;
  #unavailable = false;
  #reportedDropped = 0;
  #ticking = false;
  #stopped = false;

  constructor(options: AnalyticsOptions) {
    this.#options = options;
    const { settings, store, node, memories, running, post } = options;
    this.#now = options.now ?? Date.now;
    this.#ledger = new UsageLedger({ store, node, maxSeries: settings.maxSeries, now: this.#now });
    this.#collector = new UsageCollector({ memories, running, post, sink: this.#ledger });
    this.#reader = new UsageReader(store, this.#ledger, options.maxRows);
    this.#flushedMinute = startOf('minute', this.#now());
  }

  /** Starts to collect at intervals. */
  start(): void {
    if (this.#stopped) return;
    this.#timer ??= setInterval(() => void this.#tickInTime(), this.#options.interval ?? defaultInterval).unref();
  }

  turned(worker: number, serial: number, names: readonly UsageName[]): void {
    this.#collector.turned(worker, serial, names);
  }

  ended(worker: number): void {
    this.#collector.ended(worker);
  }

  get retention(): Settings['analytics']['retention'] {
    return this.#options.settings.retention;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#now();
  }

  get ledger(): UsageLedger {
    return this.#ledger;
  }

  /** Collects; once a minute writes and removes what is too old. */
  tick(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#collector.collect(collectTimeout);
      const minute = startOf('minute', this.#now());
      // A clock can be set back.
      if (minute === this.#flushedMinute) return;
      const written = await this.#flush();
      if (written && this.#options.removesOld !== false) await this.#removeOld();
      this.#flushedMinute = minute;
    });
  }

  /** Reads usage up to now. Nothing is written meanwhile, so that nothing is counted twice or left out. */
  read<T>(work: (reader: UsageReader) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#collector.collect(this.#options.readTimeout ?? defaultReadTimeout);
      return await work(this.#reader);
    });
  }

  /** Passes the counts of this node from the last full minute on to `work`. They come from memory: the store may be unavailable. */
  recent<T>(
    work: (rows: Iterable<LedgerRow>, range: { readonly from: number; readonly to: number }) => Promise<T>,
  ): Promise<T> {
    return this.#inTurn(async () => {
      const to = this.#now();
      await this.#collector.collect(this.#options.readTimeout ?? defaultReadTimeout);
      const from = startOf('minute', to) - lengths.minute;
      return await work(this.#ledger.since(from), { from, to });
    });
  }

  /** Writes the rest. Call it when the workers have ended, or when another process begins to write for this node. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#inTurn(() => this.#flush());
    const { waiting } = this.#ledger;
    if (waiting > 0)
      this.#options.log.warn('usage that could not be written to the store is lost', { series: waiting });
  }

  /** Skips a collection while the previous one still waits, for the store or for readers. */
  async #tickInTime(): Promise<void> {
    if (this.#ticking) return;
    this.#ticking = true;
    try {
      await this.tick();
    } catch (error) {
      this.#options.log.error('usage cannot be collected', { err: error });
    } finally {
      this.#ticking = false;
    }
  }

  /** False: the store refused it. */
  async #flush(): Promise<boolean> {
    const { log } = this.#options;
    try {
      await this.#ledger.flush();
      if (this.#unavailable) log.warn('usage is written to the store again');
      this.#unavailable = false;
      return true;
    } catch (error) {
      if (!isUnavailable(error)) log.error('usage cannot be written to the store', { err: error });
      else if (!this.#unavailable) log.warn('the store is unavailable; usage is kept in memory', { err: error });
      this.#unavailable = isUnavailable(error);
      return false;
    } finally {
      const { dropped } = this.#ledger;
      if (dropped > this.#reportedDropped)
        log.warn('requests are missing in analytics', { requests: dropped - this.#reportedDropped });
      this.#reportedDropped = dropped;
    }
  }

  async #removeOld(): Promise<void> {
    const { store, settings, log } = this.#options;
    const now = this.#now();
    try {
      for (const resolution of resolutions) {
        const kept = keptFor(settings.retention[resolution]);
        if (kept < now) await inRounds(() => store.deleteUsage(resolution, startOf(resolution, now - kept)));
      }
      // A name is needed as long as any row may have its id, and is written again each day.
      const longest = Math.max(...resolutions.map((resolution) => keptFor(settings.retention[resolution])));
      if (longest >= now) return;
      await inRounds(() => store.deleteUsageNames(now - longest - 2 * lengths.day));
    } catch (error) {
      if (!isUnavailable(error)) log.error('old usage cannot be removed', { err: error });
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#turn.then(work);
    this.#turn = run.catch(() => undefined);
    return run;
  }
}

/** 0 keeps rows forever. */
function keptFor(retention: number): number {
  return retention === 0 ? Number.POSITIVE_INFINITY : retention;
}

async function inRounds(remove: () => Promise<number>): Promise<void> {
  for (let round = 0; round < removalRounds; round++) if ((await remove()) === 0) return;
}
