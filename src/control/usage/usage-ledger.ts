import { setImmediate as nextTurn } from 'node:timers/promises';
import { keyText, readKey } from '../../shared/usage/series-key.ts';
import { SeriesMap } from '../../shared/usage/series-map.ts';
import { mergeUsage, readUsage, type Usage, writeUsage } from '../../shared/usage/usage.ts';
import type { UsageName } from '../../shared/usage/usage-name.ts';
import type { UsageKey, UsageResolution, UsageRow, UsageStore } from '../store/usage-store.ts';
import { NameRegistry } from './name-registry.ts';
import { lengths, resolutions, startOf } from './periods.ts';
import { isUnavailable } from './store-unavailable.ts';
import type { UsageSink } from './usage-collector.ts';

export interface UsageLedgerOptions {
  readonly store: UsageStore;
  readonly node: string;
  /** Maximum series of a minute, an hour or a day. */
  readonly maxSeries: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface LedgerRow {
  readonly key: UsageKey;
  readonly usage: Usage;
}

type Series = SeriesMap<Usage>;
type Books = Readonly<Record<UsageResolution, Series>>;

/** Maximum unwritten series: beyond it, the oldest minutes are dropped. */
const maxMinutes = 1_440;
const maxPending = 50_000;
/** Maximum series of a minute in one transaction, with their hour and day: some milliseconds. */
const writtenAtOnce = 50;
const readAtOnce = 500;

/**
 * The counts of this node: first by the minute in memory, then in the store, where each minute is added to its hour and its day in
 * the same transaction. Rows are written as whole sums, so a write whose outcome is unknown can be repeated.
 */
export class UsageLedger implements UsageSink {
  readonly #options: UsageLedgerOptions;
  /** By the start of the minute. */
  readonly #pending = new Map<number, Series>();
  #pendingSeries = 0;
  /** Rows of the store for periods that were written, by `<resolution> <start>`. */
  readonly #periods = new Map<string, Series>();
  readonly nameBook: NameRegistry;
  /** Requests that could not be counted in their series, or were dropped. */
  dropped = 0;

  constructor(options: UsageLedgerOptions) {
    this.#options = options;
    this.nameBook = new NameRegistry(options.store, options.now);
  }

  add(minute: number, key: string, usage: Usage): void {
    let series = this.#pending.get(minute);
    if (series === undefined) {
      series = new SeriesMap();
      this.#pending.set(minute, series);
    }
    const place = series.placeWithin(key, this.#options.maxSeries);
    const known = series.get(place);
    series.set(place, known === undefined ? usage : mergeUsage(known, usage));
    if (known !== undefined) return;
    this.#pendingSeries++;
    if (this.#pending.size > maxMinutes || this.#pendingSeries > maxPending) this.#giveUpOldest();
  }

  names(names: readonly UsageName[]): void {
    this.nameBook.add(names);
  }

  lost(requests: number): void {
    this.dropped += requests;
  }

  /** Number of series that are not written yet. */
  get waiting(): number {
    return this.#pendingSeries;
  }

  /** Unwritten counts, as rows of that resolution. */
  *unwritten(resolution: UsageResolution): Generator<LedgerRow> {
    for (const [minute, series] of this.#pending) {
      for (const [text, usage] of series) yield { key: this.#rowKey(resolution, minute, text), usage };
    }
  }

  /** Counts of the minutes that began at `from` or later, written or not. Of the written minutes only the last is in memory. */
  *since(from: number): Generator<LedgerRow> {
    const written = [...this.#periods].flatMap(([name, series]) => {
      const [resolution, start] = name.split(' ');
      return resolution === 'minute' ? [[Number(start), series] as const] : [];
    });
    for (const [minute, series] of [...written, ...this.#pending]) {
      if (minute < from) continue;
      for (const [text, usage] of series) yield { key: this.#rowKey('minute', minute, text), usage };
    }
  }

  /** Writes all counts, the oldest first, in short transactions. Rejects when the store is unavailable; the counts are then kept. */
  async flush(): Promise<void> {
    for (const minute of [...this.#pending.keys()].sort((a, b) => a - b)) {
      const series = this.#pending.get(minute);
      if (series !== undefined) await this.#writeMinute(minute, series);
    }
    await this.nameBook.write();
    this.#closeBooks();
  }

  async #writeMinute(minute: number, series: Series): Promise<void> {
    const books: Books = {
      minute: await this.#seriesOf('minute', minute),
      hour: await this.#seriesOf('hour', startOf('hour', minute)),
      day: await this.#seriesOf('day', startOf('day', minute)),
    };
    while (series.size > 0) {
      // Counts that arrive during the write are added to the rest.
      const taken = [...series].slice(0, writtenAtOnce);
      for (const [text] of taken) series.delete(text);
      this.#pendingSeries -= taken.length;
      try {
        await this.#write(minute, taken, books);
      } catch (error) {
        // The store would refuse the same rows each time.
        if (isUnavailable(error)) this.#putBack(minute, taken);
        else for (const [, { requests }] of taken) this.dropped += requests;
        throw error;
      }
      await nextTurn();
    }
    if (this.#pending.get(minute) === series) this.#pending.delete(minute);
  }

  async #write(minute: number, taken: readonly (readonly [string, Usage])[], books: Books): Promise<void> {
    const undo: (() => void)[] = [];
    const rows = resolutions.flatMap((resolution) => {
      const series = books[resolution];
      const changed = new Set<string>();
      for (const [text, usage] of taken) {
        const place = series.placeWithin(text, this.#options.maxSeries);
        const before = series.get(place);
        undo.push(() => (before === undefined ? series.delete(place) : series.set(place, before)));
        series.set(place, before === undefined ? usage : mergeUsage(before, usage));
        changed.add(place);
        if (resolution === 'day') this.nameBook.noteRow(place);
      }
      return [...changed].map((place): UsageRow => {
        return { ...this.#rowKey(resolution, minute, place), data: writeUsage(series.get(place)!) };
      });
    });
    try {
      await this.#options.store.putUsage(rows, []);
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    }
  }

  #putBack(minute: number, taken: readonly (readonly [string, Usage])[]): void {
    for (const [text, usage] of taken) this.add(minute, text, usage);
  }

  /** The rows of a period in the store; read once, since only this node writes them. */
  async #seriesOf(resolution: UsageResolution, start: number): Promise<Series> {
    const name = `${resolution} ${start}`;
    const known = this.#periods.get(name);
    if (known !== undefined) return known;
    const { store, node } = this.#options;
    const series: Series = new SeriesMap();
    let after: UsageKey | undefined;
    for (;;) {
      const rows = await store.readUsage({
        resolution,
        from: start,
        to: start + lengths[resolution],
        where: { node: [node] },
        limit: readAtOnce,
        ...(after === undefined ? {} : { after }),
      });
      for (const row of rows) {
        const usage = readUsage(row.data);
        if (usage !== null) series.set(keyText(row), usage);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < readAtOnce) break;
      after = last;
    }
    this.#periods.set(name, series);
    return series;
  }

  /** Keeps only the latest of each resolution, since minutes are consecutive. */
  #closeBooks(): void {
    for (const resolution of resolutions) {
      const open = [...this.#periods.keys()].filter((name) => name.startsWith(`${resolution} `));
      for (const name of open.slice(0, -1)) this.#periods.delete(name);
    }
  }

  #giveUpOldest(): void {
    const oldest = Math.min(...this.#pending.keys());
    const series = this.#pending.get(oldest);
    if (series === undefined) return;
    for (const { requests } of series.values()) this.dropped += requests;
    this.#pendingSeries -= series.size;
    this.#pending.delete(oldest);
    // It may be being written.
    series.clear();
  }

  #rowKey(resolution: UsageResolution, minute: number, text: string): UsageKey {
    return { resolution, start: startOf(resolution, minute), node: this.#options.node, ...readKey(text) };
  }
}
