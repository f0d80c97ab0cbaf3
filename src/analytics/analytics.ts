import type { UsageName } from '../observability/analytics/usage-recorder.ts';
import type { Settings } from '../settings/settings.ts';
import type { UsageStore } from '../store/usage-store.ts';
import type { ToWorker } from '../workers/messages.ts';
import { lengths, resolutions, startOf } from './periods.ts';
import { isAway } from './store-away.ts';
import { UsageCollector } from './usage-collector.ts';
import { UsageLedger } from './usage-ledger.ts';
import { UsageReader } from './usage-reader.ts';

export interface AnalyticsOptions {
  readonly settings: Settings['analytics'];
  readonly store: UsageStore;
  readonly node: string;
  /** Of each worker. */
  readonly memories: readonly SharedArrayBuffer[];
  /** Numbers of the workers that listen. */
  readonly running: () => readonly number[];
  readonly post: (worker: number, message: ToWorker) => void;
  readonly log: {
    warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
    error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  };
  /** Milliseconds since the epoch; given by tests. */
  readonly now?: () => number;
  /** Time between two collections, in milliseconds. Default 10 seconds. */
  readonly interval?: number;
  /** How long a reader waits for workers, in milliseconds. Default 250. */
  readonly readPatience?: number;
  /** Rows that one request may read. Default 200,000. */
  readonly mostRows?: number;
}

const usualInterval = 10_000;
/** How long a collection waits for workers, in milliseconds. */
const patience = 2_000;
const usualReadPatience = 250;
/** Rounds of removal at most after each write. */
const removalRounds = 20;

/** How the API is used: taken from the workers, kept in the store, read by the Admin API. */
export class Analytics {
  readonly #options: AnalyticsOptions;
  readonly #collector: UsageCollector;
  readonly #ledger: UsageLedger;
  readonly #reader: UsageReader;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #flushedMinute: number;
  #away = false;
  #toldDropped = 0;
  #ticking = false;

  constructor(options: AnalyticsOptions) {
    this.#options = options;
    const { settings, store, node, memories, running, post } = options;
    this.#now = options.now ?? Date.now;
    this.#ledger = new UsageLedger({ store, node, maxSeries: settings.maxSeries, now: this.#now });
    this.#collector = new UsageCollector({ memories, running, post, sink: this.#ledger });
    this.#reader = new UsageReader(store, this.#ledger, options.mostRows);
    this.#flushedMinute = startOf('minute', this.#now());
  }

  /** Collects from now on by itself. */
  start(): void {
    this.#timer ??= setInterval(() => void this.#tickInTime(), this.#options.interval ?? usualInterval).unref();
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
      await this.#collector.collect(patience);
      const minute = startOf('minute', this.#now());
      // Clocks are set back, too.
      if (minute === this.#flushedMinute) return;
      if (await this.#flush()) await this.#removeOld();
      this.#flushedMinute = minute;
    });
  }

  /** Reads usage up to now. Nothing is written meanwhile, so that nothing is counted twice or left out. */
  read<T>(work: (reader: UsageReader) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#collector.collect(this.#options.readPatience ?? usualReadPatience);
      return await work(this.#reader);
    });
  }

  /** To be called when the workers have ended: writes the rest. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#inTurn(() => this.#flush());
    const { waiting } = this.#ledger;
    if (waiting > 0)
      this.#options.log.warn('usage is lost that could not be written to the store', { series: waiting });
  }

  /** Leaves one out while the one before it still waits, for the store or for readers. */
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

  /** False when the store does not take it. */
  async #flush(): Promise<boolean> {
    const { log } = this.#options;
    try {
      await this.#ledger.flush();
      if (this.#away) log.warn('usage is written to the store again');
      this.#away = false;
      return true;
    } catch (error) {
      if (!isAway(error)) log.error('usage cannot be written to the store', { err: error });
      else if (!this.#away) log.warn('usage is kept in memory', { err: error });
      this.#away = isAway(error);
      return false;
    } finally {
      const { dropped } = this.#ledger;
      if (dropped > this.#toldDropped)
        log.warn('requests are missing in analytics', { requests: dropped - this.#toldDropped });
      this.#toldDropped = dropped;
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
      // A name is of use as long as any row may have its id, and is written anew each day.
      const longest = Math.max(...resolutions.map((resolution) => keptFor(settings.retention[resolution])));
      if (longest >= now) return;
      await inRounds(() => store.deleteUsageNames(now - longest - 2 * lengths.day));
    } catch (error) {
      if (!isAway(error)) log.error('old usage cannot be removed', { err: error });
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#turn.then(work);
    this.#turn = run.catch(() => undefined);
    return run;
  }
}

/** 0 is for ever. */
function keptFor(retention: number): number {
  return retention === 0 ? Number.POSITIVE_INFINITY : retention;
}

async function inRounds(remove: () => Promise<number>): Promise<void> {
  for (let round = 0; round < removalRounds; round++) if ((await remove()) === 0) return;
}
