import type { Settings } from '../../shared/settings/settings.ts';
import type { RecordingOptions, TrafficMessage } from '../../shared/traffic/traffic-record.ts';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { PluginCostReader, type PluginCosts } from './plugin-costs.ts';
import { matchesFilter, type TrafficFilter } from './traffic-filter.ts';
import { type KeptRecord, TrafficRing } from './traffic-ring.ts';

export interface TrafficDeskOptions {
  readonly settings: Settings['traffic'];
  /** Switches the recorders of all workers; null: off. */
  readonly record: (recording: RecordingOptions | null) => void;
  /** Numbers of the workers that run. */
  readonly workers: () => readonly number[];
  /** Milliseconds for which a read keeps the recorder on. Default: 30,000. */
  readonly lookTime?: number;
  /** Milliseconds on a clock that is never set. Default: the monotonic clock. */
  readonly now?: () => number;
}

/** What happened in a second, on all workers. */
export interface TrafficRate {
  /** Requests that ended. */
  readonly seen: number;
  /** Those of them that were recorded. */
  readonly sampled: number;
  /** Records that were lost because the control plane was behind. */
  readonly dropped: number;
}

/** Receives what a live tail shows. */
export interface TrafficReceiver {
  /** `text`: the JSON of a record that the filter selects. */
  readonly record: (text: string) => void;
  /** The first call says that the workers record. */
  readonly rate: (rate: TrafficRate) => void;
}

interface LiveTail extends TrafficReceiver {
  readonly filter: TrafficFilter;
  /** Bytes of each body that are recorded while it is open. */
  readonly bodies: number;
}

/** A part of the kept records. */
export interface TrafficPage {
  readonly order: 'asc' | 'desc';
  /** Serial of the record after which the page begins; null: at the beginning. */
  readonly after: number | null;
  /** Only requests that began before; milliseconds since the epoch. */
  readonly before: number | null;
  readonly skip: number;
  readonly limit: number;
}

/** Records that are kept where the setting says none. */
const defaultRecords = 1_000;
const defaultLookTime = 30_000;
/** Milliseconds for which records are kept after the recorder was switched off. */
const keepTime = 600_000;
/** Milliseconds in which workers begin to record. */
const switchTime = 1_000;
const rateInterval = 1_000;

/** Keeps the records of the node's workers, and switches their recorders on while somebody looks. */
export class TrafficDesk {
  readonly #options: TrafficDeskOptions;
  readonly #now: () => number;
  readonly #ring: TrafficRing;
  readonly #costs = new PluginCostReader();
  readonly #tails = new Set<LiveTail>();
  /** Since the start of the node. */
  readonly #totals = { seen: 0, sampled: 0, dropped: 0, dropped_bodies: 0 };
  /** `#totals` at the last `rate` event. */
  #reported: TrafficRate = { seen: 0, sampled: 0, dropped: 0 };
  /** How the workers record; null: they do not. */
  #recording: RecordingOptions | null = null;
  #lookUntil = 0;
  /** The same for bodies, and their bytes. */
  #bodiesUntil = 0;
  #bodiesLooked = 0;
  /** Workers that record. */
  readonly #confirmed = new Set<number>();
  #confirmations: PromiseWithResolvers<void> | null = null;
  #rateTimer: NodeJS.Timeout | undefined;
  #offTimer: NodeJS.Timeout | undefined;
  #clearTimer: NodeJS.Timeout | undefined;

  constructor(options: TrafficDeskOptions) {
    this.#options = options;
    this.#now = options.now ?? monotonic;
    const { records, memory } = options.settings;
    this.#ring = new TrafficRing(records === 0 ? defaultRecords : records, memory);
    if (records > 0) this.#switch();
  }

  /** `always`: as the settings request. */
  get state(): 'always' | 'on' | 'off' {
    if (this.#options.settings.records > 0) return 'always';
    return this.#recording === null ? 'off' : 'on';
  }

  get totals(): TrafficRate & { readonly kept: number; readonly dropped_bodies: number } {
    return { ...this.#totals, kept: this.#ring.size };
  }

  get tails(): number {
    return this.#tails.size;
  }

  /** Bytes of each body that are recorded now; 0: none. */
  get bodies(): number {
    return this.#recording?.bodies ?? 0;
  }

  /** Keeps the recorder on for a while. `bodies`: bytes of each body. Resolves when the workers record, or after a second. */
  async look(bodies = 0): Promise<void> {
    const now = this.#now();
    const { lookTime = defaultLookTime } = this.#options;
    this.#lookUntil = now + lookTime;
    if (bodies > 0) {
      this.#bodiesLooked = now < this.#bodiesUntil ? Math.max(this.#bodiesLooked, bodies) : bodies;
      this.#bodiesUntil = now + lookTime;
    }
    await this.#switch(now);
  }

  /** The records of a page, in its order. */
  read(filter: TrafficFilter, { order, after, before, skip, limit }: TrafficPage): readonly KeptRecord[] {
    const found: KeptRecord[] = [];
    let passed = 0;
    for (const record of this.#ring.walk(order, after)) {
      if (before !== null && Date.parse(record.entry.at) >= before) continue;
      if (!matchesFilter(filter, record.entry) || passed++ < skip) continue;
      found.push(record);
      if (found.length >= limit) break;
    }
    return found;
  }

  get(id: string): KeptRecord | null {
    return this.#ring.get(id);
  }

  /** What plugins took, in the requests that are kept. */
  pluginCosts(): Promise<PluginCosts> {
    return this.#costs.read(this.#ring.walk('desc', null));
  }

  /** The newest records that a dry run can repeat, at most so many, oldest first. Their raw requests must never be shown. */
  repeatable(limit: number): readonly KeptRecord[] {
    const found: KeptRecord[] = [];
    for (const record of this.#ring.walk('desc', null)) {
      if (found.length >= limit) break;
      if (record.raw.byteLength > 0) found.push(record);
    }
    return found.reverse();
  }

  clear(): void {
    this.#ring.clear();
  }

  /**
   * Sends the records that the filter selects as they arrive, until the returned function is called. `bodies`: bytes of each body that are
   * recorded meanwhile; 0: none.
   */
  tail(filter: TrafficFilter, bodies: number, receiver: TrafficReceiver): () => void {
    const tail: LiveTail = { filter, bodies, ...receiver };
    this.#tails.add(tail);
    if (this.#rateTimer === undefined) {
      this.#reported = { ...this.#totals };
      this.#rateTimer = setInterval(() => this.#sendRates(), rateInterval).unref();
    }
    void this.#switch().then(() => tail.rate({ seen: 0, sampled: 0, dropped: 0 }));
    return () => this.#left(tail);
  }

  /** From a worker. */
  received(worker: number, { records, seen, dropped, droppedBodies }: TrafficMessage): void {
    this.#totals.seen += seen;
    this.#totals.sampled += records.length;
    this.#totals.dropped += dropped;
    this.#totals.dropped_bodies += droppedBodies;
    if (seen === 0 && records.length === 0 && this.#recording !== null) this.#confirm(worker);
    for (const posted of records) {
      const record = this.#ring.add(posted);
      for (const tail of this.#tails) if (matchesFilter(tail.filter, record.entry)) tail.record(record.text);
    }
  }

  /** The node stops. */
  close(): void {
    clearInterval(this.#rateTimer);
    clearTimeout(this.#offTimer);
    clearTimeout(this.#clearTimer);
  }

  #wanted(now: number): boolean {
    return this.#options.settings.records > 0 || this.#tails.size > 0 || now < this.#lookUntil;
  }

  #wantedBodies(now: number): number {
    const looked = now < this.#bodiesUntil ? this.#bodiesLooked : 0;
    return Math.max(this.#options.settings.bodies, looked, ...[...this.#tails].map(({ bodies }) => bodies));
  }

  /**
   * Switches on or off, as is wanted at `now`. Resolves when the workers record, or after a second. The clock is read once: what is wanted
   * because its time has not ended must also set the timer for that end.
   */
  async #switch(now = this.#now()): Promise<void> {
    clearTimeout(this.#offTimer);
    const { record, settings, workers } = this.#options;
    if (this.#wanted(now)) {
      clearTimeout(this.#clearTimer);
      const ends = [this.#lookUntil, this.#bodiesUntil].filter((end) => end > now);
      if (ends.length > 0) this.#offTimer = setTimeout(() => void this.#switch(), Math.min(...ends) - now + 1).unref();
      const bodies = this.#wantedBodies(now);
      if (this.#recording === null || this.#recording.bodies !== bodies) {
        this.#recording = { rate: settings.rate, bodies };
        this.#confirmed.clear();
        this.#confirmations?.resolve();
        this.#confirmations = Promise.withResolvers();
        record(this.#recording);
        if (workers().length === 0) this.#confirmations.resolve();
      }
      if (this.#confirmations !== null) await awaitWithTimeout(this.#confirmations.promise, switchTime);
    } else if (this.#recording !== null) {
      this.#recording = null;
      this.#confirmations = null;
      record(null);
      this.#clearTimer = setTimeout(() => this.#ring.clear(), keepTime).unref();
    }
  }

  #confirm(worker: number): void {
    this.#confirmed.add(worker);
    if (this.#options.workers().every((number) => this.#confirmed.has(number))) this.#confirmations?.resolve();
  }

  #sendRates(): void {
    const { seen, sampled, dropped } = this.#totals;
    const before = this.#reported;
    this.#reported = { seen, sampled, dropped };
    const rate = {
      seen: seen - before.seen,
      sampled: sampled - before.sampled,
      dropped: dropped - before.dropped,
    };
    for (const tail of this.#tails) tail.rate(rate);
  }

  #left(tail: LiveTail): void {
    if (!this.#tails.delete(tail)) return;
    if (this.#tails.size === 0) {
      clearInterval(this.#rateTimer);
      this.#rateTimer = undefined;
    }
    void this.#switch();
  }
}
