import { setImmediate as nextTurn } from 'node:timers/promises';
import { keyText, readKey } from '../observability/analytics/series-key.ts';
import { SeriesMap } from '../observability/analytics/series-map.ts';
import { mergeUsage, readUsage, type Usage, writeUsage } from '../observability/analytics/usage.ts';
import type { UsageName } from '../observability/analytics/usage-recorder.ts';
import type { UsageKey, UsageResolution, UsageRow, UsageStore } from '../store/usage-store.ts';
import { NameBook } from './name-book.ts';
import { lengths, resolutions, startOf } from './periods.ts';
import { isAway } from './store-away.ts';
import type { UsageSink } from './usage-collector.ts';

export interface UsageLedgerOptions {
  readonly store: UsageStore;
  readonly node: string;
  /** Series that a minute, an hour, a day may have. */
  readonly maxSeries: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

type Series = SeriesMap<Usage>;
type Books = Readonly<Record<UsageResolution, Series>>;

/** Counts that have not been written, at most: beyond, the oldest minutes are given up. */
const mostMinutes = 1_440;
const mostPending = 50_000;
/** Series of a minute that one transaction writes, with their hour and day: some milliseconds. */
const writtenAtOnce = 50;
const readAtOnce = 500;

/**
 * What this node has counted: at first by the minute in memory, then in the store, where each minute is added to its hour and its day in
 * the same transaction. Rows are written whole, as sums of what is there and what came: a write whose outcome nobody knows is done again.
 */
export class UsageLedger implements UsageSink {
  readonly #options: UsageLedgerOptions;
  /** By when the minute began. */
  readonly #pending = new Map<number, Series>();
  #pendingSeries = 0;
  /** What the store has of periods that were written to, by `<resolution> <start>`. */
  readonly #books = new Map<string, Series>();
  readonly nameBook: NameBook;
  /** Requests that could not be counted in their series, or not be kept. */
  dropped = 0;

  constructor(options: UsageLedgerOptions) {
    this.#options = options;
    this.nameBook = new NameBook(options.store, options.now);
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
    if (this.#pending.size > mostMinutes || this.#pendingSeries > mostPending) this.#giveUpOldest();
  }

  names(names: readonly UsageName[]): void {
    this.nameBook.add(names);
  }

  lost(requests: number): void {
    this.dropped += requests;
  }

  /** Series that wait to be written. */
  get waiting(): number {
    return this.#pendingSeries;
  }

  /** What has not been written, as rows of that resolution. */
  *unwritten(resolution: UsageResolution): Generator<{ readonly key: UsageKey; readonly usage: Usage }> {
    for (const [minute, series] of this.#pending) {
      for (const [text, usage] of series) yield { key: this.#rowKey(resolution, minute, text), usage };
    }
  }

  /** Writes what is there, the oldest first, in short transactions. Rejects when the store does not take it; then it is kept. */
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
      minute: await this.#book('minute', minute),
      hour: await this.#book('hour', startOf('hour', minute)),
      day: await this.#book('day', startOf('day', minute)),
    };
    while (series.size > 0) {
      // What comes in while this is written is added to what is left here.
      const taken = [...series].slice(0, writtenAtOnce);
      for (const [text] of taken) series.delete(text);
      this.#pendingSeries -= taken.length;
      try {
        await this.#write(minute, taken, books);
      } catch (error) {
        // What the store refuses, it would refuse for ever.
        if (isAway(error)) this.#putBack(minute, taken);
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
      const book = books[resolution];
      const changed = new Set<string>();
      for (const [text, usage] of taken) {
        const place = book.placeWithin(text, this.#options.maxSeries);
        const before = book.get(place);
        undo.push(() => (before === undefined ? book.delete(place) : book.set(place, before)));
        book.set(place, before === undefined ? usage : mergeUsage(before, usage));
        changed.add(place);
        if (resolution === 'day') this.nameBook.noteRow(place);
      }
      return [...changed].map((place): UsageRow => {
        return { ...this.#rowKey(resolution, minute, place), data: writeUsage(book.get(place)!) };
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

  /** What the store has of a period; read once, for only this node writes to its rows. */
  async #book(resolution: UsageResolution, start: number): Promise<Series> {
    const name = `${resolution} ${start}`;
    const known = this.#books.get(name);
    if (known !== undefined) return known;
    const { store, node } = this.#options;
    const book: Series = new SeriesMap();
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
        if (usage !== null) book.set(keyText(row), usage);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < readAtOnce) break;
      after = last;
    }
    this.#books.set(name, book);
    return book;
  }

  /** Keeps the latest of each kind: minutes follow on each other. */
  #closeBooks(): void {
    for (const resolution of resolutions) {
      const open = [...this.#books.keys()].filter((name) => name.startsWith(`${resolution} `));
      for (const name of open.slice(0, -1)) this.#books.delete(name);
    }
  }

  #giveUpOldest(): void {
    const oldest = Math.min(...this.#pending.keys());
    const series = this.#pending.get(oldest);
    if (series === undefined) return;
    for (const { requests } of series.values()) this.dropped += requests;
    this.#pendingSeries -= series.size;
    this.#pending.delete(oldest);
    // It may be under way to the store.
    series.clear();
  }

  #rowKey(resolution: UsageResolution, minute: number, text: string): UsageKey {
    return { resolution, start: startOf(resolution, minute), node: this.#options.node, ...readKey(text) };
  }
}
