import type {
  WindowLimit,
  WindowLimiter,
  WindowLimiterOptions,
  WindowPeriod,
  WindowVerdict,
} from '../../plugin-sdk/limits.ts';
import type { KeyHash } from '../zones/key-hash.ts';
import { Content, Field } from '../zones/zone-layout.ts';
import type { ZoneTable } from '../zones/zone-table.ts';
import { shareOfPrevious, verdictOf, type WindowCount, windowAt } from './window-counts.ts';

const { lastUsed, expiresAt } = Field;
const windowStart = Field.first;
const usedNow = Field.second;
const usedBefore = Field.third;
const usedByOthers = Field.fourth;

/** Milliseconds that a clock correction may set it back by: the current window continues meanwhile. */
const correction = 1000;

/** Tags of the slots of a key in the zone. */
const tags: Readonly<Record<WindowPeriod, number>> = { second: 1, minute: 2, hour: 3, day: 4, month: 5, year: 6 };

interface MutableCount {
  start: number;
  end: number;
  used: number;
  before: number;
}

/**
 * Windows in a zone of this node: all windows of a key are checked and counted under one lock. The clock is read under
 * the lock too, so that no worker counts into the previous window at its edge.
 */
export class LocalWindows implements WindowLimiter {
  readonly #table: ZoneTable;
  readonly #hash: KeyHash;
  readonly #limits: readonly WindowLimit[];
  readonly #sliding: boolean;
  readonly #now: () => number;
  /** The slots of the locked key and their contents; reused for each request. */
  readonly #slots: number[];
  readonly #counts: MutableCount[];
  /** The last computed window of each limit: most requests are in the same one. */
  readonly #windows: { start: number; end: number }[];

  constructor(table: ZoneTable, options: WindowLimiterOptions) {
    this.#table = table;
    table.holds(Content.windows);
    this.#hash = table.hasher(options.namespace);
    this.#limits = options.limits;
    this.#sliding = options.windowType === 'sliding';
    this.#now = options.now ?? Date.now;
    this.#slots = options.limits.map(() => -1);
    this.#counts = options.limits.map(() => ({ start: 0, end: 0, used: 0, before: 0 }));
    this.#windows = options.limits.map(() => ({ start: 0, end: 0 }));
  }

  take(key: string, cost = 1): WindowVerdict {
    return this.#count(key, cost, false);
  }

  add(key: string, cost: number): WindowVerdict {
    return this.#count(key, cost, true);
  }

  peek(key: string): WindowVerdict {
    const table = this.#table;
    table.lock(this.#hash, key);
    const now = this.#now();
    for (let at = 0; at < this.#limits.length; at++) this.#read(at, now, table.find(tags[this.#limits[at]!.period]));
    table.unlock();
    return this.#verdict(now, this.#firstFull(now, 1));
  }

  /**
   * Sets what other nodes have counted so far in one window of a key; ignored when that is no longer the key's window.
   *
   * @param at Index of the limit.
   */
  setRemoteCount(key: string, at: number, start: number, others: number): void {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const slot = table.find(tags[this.#limits[at]!.period]);
    // Answers may arrive out of order: the count of the others never decreases.
    if (slot >= 0 && values[slot + windowStart] === start && others > values[slot + usedByOthers]!) {
      values[slot + usedNow]! += others - values[slot + usedByOthers]!;
      values[slot + usedByOthers] = others;
    }
    table.unlock();
  }

  close(): void {}

  #count(key: string, cost: number, force: boolean): WindowVerdict {
    const table = this.#table;
    const slots = this.#slots;
    table.lock(this.#hash, key);
    const now = this.#now();
    for (let at = 0; at < slots.length; at++) {
      const slot = table.claim(tags[this.#limits[at]!.period], now);
      slots[at] = slot;
      this.#read(at, now, slot);
      // Before the next claim, so that it does not take this slot for an idle one.
      this.#write(at, slot, now);
    }
    const violated = this.#firstFull(now, cost);
    if (violated < 0 || force) {
      for (let at = 0; at < slots.length; at++) {
        const used = this.#counts[at]!.used + cost;
        this.#counts[at]!.used = used;
        if (slots[at]! >= 0) table.values[slots[at]! + usedNow] = used;
      }
    }
    table.unlock();
    return this.#verdict(now, violated);
  }

  /** The content of the slot for the window of `now`. */
  #read(at: number, now: number, slot: number): void {
    const window = this.#windows[at]!;
    if (now < window.start || now >= window.end) Object.assign(window, windowAt(this.#limits[at]!.period, now));
    const count = this.#counts[at]!;
    count.start = window.start;
    count.end = window.end;
    count.used = 0;
    count.before = 0;
    if (slot < 0) return;
    const { values } = this.#table;
    const start = values[slot + windowStart]!;
    if (start > now && start - now <= correction) {
      // If the slot moved back, the window ahead would begin again when the clock has caught up.
      Object.assign(count, windowAt(this.#limits[at]!.period, start));
      count.used = values[slot + usedNow]!;
      count.before = values[slot + usedBefore]!;
      return;
    }
    const ahead = start - window.start;
    if (ahead === 0) {
      count.used = values[slot + usedNow]!;
      count.before = values[slot + usedBefore]!;
    } else if (ahead > 0 && ahead <= window.end - window.start) {
      // The clock was set back a little: the window ahead keeps counting, or a client could use it twice.
      count.used = values[slot + usedNow]!;
    } else if (this.#sliding && start !== 0 && windowAt(this.#limits[at]!.period, window.start - 1).start === start) {
      count.before = values[slot + usedNow]!;
    }
  }

  #write(at: number, slot: number, now: number): void {
    if (slot < 0) return;
    const { start, end, used, before } = this.#counts[at]!;
    const { values } = this.#table;
    if (values[slot + windowStart] !== start) values[slot + usedByOthers] = 0;
    values[slot + lastUsed] = now;
    values[slot + expiresAt] = this.#sliding ? end + (end - start) : end;
    values[slot + windowStart] = start;
    values[slot + usedNow] = used;
    values[slot + usedBefore] = before;
  }

  #firstFull(now: number, cost: number): number {
    for (let at = 0; at < this.#counts.length; at++) {
      const { start, end, used, before } = this.#counts[at]!;
      const seen = before === 0 ? used : used + before * shareOfPrevious(start, end, now);
      if (seen + cost > this.#limits[at]!.limit) return at;
    }
    return -1;
  }

  #verdict(now: number, violated: number): WindowVerdict {
    return verdictOf(this.#limits, this.#counts as readonly WindowCount[], now, violated);
  }
}
