import type { WindowLimiterOptions } from '../../../plugin-sdk/limits.ts';
import type { KeyHash } from '../../zones/key-hash.ts';
import { Field } from '../../zones/zone-layout.ts';
import type { ZoneTable } from '../../zones/zone-table.ts';
import { windowAt } from '../window-counts.ts';
import { type EmergencyShare, emergencyShare } from './emergency-share.ts';
import { KeyDemand } from './key-demand.ts';
import { KnownNodes } from './known-nodes.ts';
import { ShareField, WindowField, windowTag } from './lease-slots.ts';
import {
  type Credited,
  type HeldWindow,
  type SeenWindow,
  type Surplus,
  seenWindows,
  type Waiting,
} from './lease-steps.ts';

const { lastUsed, expiresAt } = Field;
const { start: windowStart, held, usedByAll, usedBefore } = WindowField;

/** Milliseconds that a clock correction may set it back by: the current window continues meanwhile. */
const correction = 1000;

/**
 * What a node has leased from the store, in a zone that its workers share. A unit is in the zone from the answer of the store until a
 * request takes it or it is given back, both under the lock of its key. A worker that ends in between loses units, and never uses
 * one twice.
 */
export class LeaseTable {
  readonly windows: readonly SeenWindow[];
  readonly nodes: KnownNodes;
  /** After `take` and `drawUpTo`: less than half of the last lease is left. */
  isLow = false;
  /** The time of the last step, milliseconds since the epoch. */
  takenAt = 0;
  readonly #table: ZoneTable;
  readonly #hash: KeyHash;
  readonly #limits: WindowLimiterOptions['limits'];
  readonly #sliding: boolean;
  readonly #now: () => number;
  readonly #tags: readonly number[];
  readonly #slots: number[];
  readonly #demand: KeyDemand;
  /** The last computed window of each limit: most requests are in the same one. */
  readonly #current: { start: number; end: number }[];

  constructor(table: ZoneTable, { namespace, limits, windowType, now = Date.now }: WindowLimiterOptions) {
    this.#table = table;
    this.#limits = limits;
    this.#sliding = windowType === 'sliding';
    this.#now = now;
    // What was leased for another limit is not used for this one.
    const rules = limits.map(({ period, limit }) => `${period}=${limit}`).join(',');
    this.#hash = table.hasher(`lease:${rules}${this.#sliding ? '~' : ''}:${namespace}:`);
    this.nodes = new KnownNodes(table);
    this.#demand = new KeyDemand(table);
    this.#tags = limits.map(({ period }) => windowTag(period));
    this.#slots = limits.map(() => -1);
    this.#current = limits.map(() => ({ start: 0, end: 0 }));
    this.windows = limits.map(() => ({ start: 0, end: 0, used: 0, before: 0 }));
  }

  /** Takes from all windows what the node holds, or nothing. True: taken; `windows` has the counts after it. */
  take(key: string, cost: number): boolean {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const now = this.#begin();
    const enough = this.#holds(now, cost);
    if (enough) {
      let least = Number.POSITIVE_INFINITY;
      for (let at = 0; at < this.#slots.length; at++) {
        const slot = this.#slots[at]!;
        const left = values[slot + held]! - cost;
        values[slot + held] = left;
        values[slot + lastUsed] = now;
        if (left < least) least = left;
        this.#see(at, slot);
      }
      this.isLow = this.#demand.count(now, cost, least);
    }
    table.unlock();
    return enough;
  }

  /** True: the node holds that much of all windows; `windows` has the counts. */
  peek(key: string, cost: number): boolean {
    this.#table.lock(this.#hash, key);
    const enough = this.#holds(this.#begin(), cost);
    for (let at = 0; at < this.#slots.length && enough; at++) this.#see(at, this.#slots[at]!);
    this.#table.unlock();
    return enough;
  }

  /** Takes what the node holds, up to `cost`. Returns for each window what is missing; `windows` has the counts. */
  drawUpTo(key: string, cost: number): readonly number[] {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const now = this.#begin();
    let least = Number.POSITIVE_INFINITY;
    const missing = this.#limits.map((_, at) => {
      const slot = this.#find(at, now);
      const has = slot < 0 ? 0 : values[slot + held]!;
      const drawn = Math.min(cost, has);
      least = Math.min(least, has - drawn);
      if (slot < 0) return cost;
      values[slot + held] = has - drawn;
      values[slot + lastUsed] = now;
      this.#see(at, slot);
      return cost - drawn;
    });
    this.isLow = this.#demand.count(now, cost, least);
    table.unlock();
    return missing;
  }

  /**
   * What to request for `wanted` units: the windows of now, what the node holds of each, and how much more the key is expected to need.
   * Nothing ahead while another worker waits for a lease of the key. `timeout`: milliseconds that the answer may take; null: nothing
   * is requested ahead.
   */
  plan(key: string, wanted: number, timeout: number | null): readonly HeldWindow[] {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const now = this.#begin();
    const rate = timeout === null ? 0 : this.#demand.rateForLease(now, wanted);
    let leases = false;
    const planned = this.#limits.map((_, at): HeldWindow => {
      const slot = this.#find(at, now);
      const has = slot < 0 ? 0 : values[slot + held]!;
      const known = slot < 0 ? 0 : values[slot + usedByAll]!;
      const { start, end } = this.windows[at]!;
      const target = this.#demand.target(rate, end - now);
      const ahead = Math.max(0, target - Math.max(0, has - wanted));
      if (ahead > 0) leases = true;
      return { start, end, held: has, known, ahead };
    });
    if (leases && timeout !== null) this.#demand.requested(now, timeout);
    table.unlock();
    return planned;
  }

  /**
   * Adds a lease and serves those who wait, in their order, as one step. Returns who got nothing, and what has to be given back:
   * nothing stays in the zone of a window that has no slot, or of the previous one.
   */
  credit(
    key: string,
    planned: readonly HeldWindow[],
    taken: readonly number[],
    counts: { readonly used: readonly number[]; readonly before: readonly number[] },
    waiting: readonly Waiting[],
  ): Credited {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const now = this.#begin();
    const surplus: Surplus[] = [];
    const used = [...counts.used];
    const pools = planned.map((window, at) => {
      const slot = this.#claimFor(at, window, now, surplus);
      this.#slots[at] = slot;
      const units = taken[at] ?? 0;
      if (slot < 0) return units;
      used[at] = this.#newestCount(slot, window, used[at] ?? 0, units);
      values[slot + usedByAll] = used[at];
      values[slot + usedBefore] = counts.before[at] ?? 0;
      return values[slot + held]! + units;
    });
    const served: { readonly one: Waiting; readonly pools: readonly number[] }[] = [];
    const unserved: Waiting[] = [];
    let spent = 0;
    for (const one of waiting) {
      if (pools.some((pool) => pool < one.cost)) {
        unserved.push(one);
        continue;
      }
      for (let at = 0; at < pools.length; at++) pools[at]! -= one.cost;
      spent += one.cost;
      served.push({ one, pools: [...pools] });
    }
    let least = Number.POSITIVE_INFINITY;
    for (const [at, pool] of pools.entries()) {
      const slot = this.#slots[at]!;
      if (slot >= 0) values[slot + held] = pool;
      else if (pool > 0) surplus.push({ at, start: planned[at]!.start, amount: pool });
      least = Math.min(least, slot < 0 ? 0 : pool);
    }
    this.#demand.leased(
      now,
      spent,
      least,
      planned.some(({ ahead }) => ahead > 0),
    );
    table.unlock();
    for (const { one, pools: left } of served) one.serve(seenWindows(planned, used, counts.before, left), now);
    const windows = seenWindows(planned, used, counts.before, pools);
    return { unserved, surplus, holds: pools.some((pool) => pool > 0), windows, now };
  }

  /** The lease that was planned has failed: the next may be requested. */
  failed(key: string): void {
    this.#table.lock(this.#hash, key);
    this.#demand.failed();
    this.#table.unlock();
  }

  /** Takes out what the key does not need, or everything. `holds`: some is left. */
  takeSurplus(key: string, everything: boolean): { readonly surplus: readonly Surplus[]; readonly holds: boolean } {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const now = this.#begin();
    const need = everything ? 0 : this.#demand.need(now);
    const surplus: Surplus[] = [];
    let holds = false;
    for (let at = 0; at < this.#limits.length; at++) {
      const slot = table.find(this.#tags[at]!);
      if (slot < 0) continue;
      const has = values[slot + held]!;
      const start = values[slot + windowStart]!;
      const over = now >= windowAt(this.#limits[at]!.period, start).end;
      const keep = over ? 0 : has <= 2 * need ? has : need;
      values[slot + held] = keep;
      if (keep > 0) holds = true;
      // Of a fixed window that is over, nobody can use it.
      if (has > keep && (!over || this.#sliding)) surplus.push({ at, start, amount: has - keep });
    }
    table.unlock();
    return { surplus, holds };
  }

  /**
   * Decides without the store: by what the node holds, and beyond that by its emergency share of each window, which is what was left
   * when the store was last heard of, divided by the number of nodes; at least 1 if anything was left. `windows` has the counts by
   * which it was decided. `take` counts unless it is rejected, `add` always, `peek` never.
   *
   * @param costs For each window.
   * @returns For each window what was taken of the share, and the index of the first that has too little left, or -1.
   */
  takeEmergency(
    key: string,
    costs: readonly number[],
    what: 'take' | 'add' | 'peek',
  ): { readonly violated: number; readonly owed: readonly number[] } {
    const table = this.#table;
    const { values } = table;
    // Another key, with another lock.
    const nodes = this.nodes.count;
    table.lock(this.#hash, key);
    const now = this.#begin();
    const states = this.#limits.map((_, at) => this.#emergencyOf(at, now, costs[at] ?? 0, nodes));
    const violated = states.findIndex(({ share }, at) => share !== null && share.room < (costs[at] ?? 0));
    const counts = what === 'add' || (what === 'take' && violated < 0);
    const owed = states.map(({ leased, share }, at) => {
      const cost = counts ? (costs[at] ?? 0) : 0;
      if (share === null) {
        values[leased + held]! -= cost;
        this.#see(at, leased);
        return 0;
      }
      if (share.slot >= 0) values[share.slot + ShareField.accepted]! += cost;
      const window = this.windows[at]!;
      window.used = this.#limits[at]!.limit - Math.max(0, share.room - cost);
      window.before = 0;
      return cost;
    });
    table.unlock();
    return { violated, owed };
  }

  /** The clock is read under the lock, so that no worker counts into the previous window at its edge. */
  #begin(): number {
    this.takenAt = this.#now();
    return this.takenAt;
  }

  /** Finds the slots of all windows of now; false: one of them has less than `cost`. */
  #holds(now: number, cost: number): boolean {
    for (let at = 0; at < this.#slots.length; at++) {
      const slot = this.#find(at, now);
      if (slot < 0 || this.#table.values[slot + held]! < cost) return false;
      this.#slots[at] = slot;
    }
    return true;
  }

  /** The slot of the window of now, or -1. Afterwards `windows[at]` has the window's start and end. */
  #find(at: number, now: number): number {
    const current = this.#current[at]!;
    if (now < current.start || now >= current.end) Object.assign(current, windowAt(this.#limits[at]!.period, now));
    const window = this.windows[at]!;
    window.start = current.start;
    window.end = current.end;
    const slot = this.#table.find(this.#tags[at]!);
    if (slot < 0) return -1;
    const start = this.#table.values[slot + windowStart]!;
    if (start === current.start) return slot;
    if (start <= now || start - now > correction) return -1;
    // If the clock was set back a little, the window ahead continues.
    Object.assign(window, windowAt(this.#limits[at]!.period, start));
    return slot;
  }

  #see(at: number, slot: number): void {
    const { values } = this.#table;
    const window = this.windows[at]!;
    window.used = values[slot + usedByAll]! - values[slot + held]!;
    window.before = values[slot + usedBefore]!;
  }

  /**
   * An answer to another worker may have arrived first although the store gave it later. Then the greater count is the newer one,
   * unless something was given back in between; and what the node holds is counted.
   */
  #newestCount(slot: number, { known }: HeldWindow, answered: number, units: number): number {
    const { values } = this.#table;
    const current = values[slot + usedByAll]!;
    const newest = current === known ? answered : Math.max(current, answered);
    return Math.max(newest, values[slot + held]! + units);
  }

  /** The slot for what was leased of a window; -1: there is none, or the node is in a later window already. */
  #claimFor(at: number, { start, end }: HeldWindow, now: number, surplus: Surplus[]): number {
    const table = this.#table;
    const { values } = table;
    const slot = table.claim(this.#tags[at]!, now);
    if (slot < 0) return -1;
    const before = values[slot + windowStart]!;
    const isAhead = before > start && (values[slot + held]! > 0 || before - now <= correction);
    if (isAhead) return -1;
    if (before !== start) {
      const left = values[slot + held]!;
      if (left > 0 && this.#sliding) surplus.push({ at, start: before, amount: left });
      values[slot + held] = 0;
      values[slot + usedByAll] = 0;
      values[slot + windowStart] = start;
    }
    values[slot + lastUsed] = now;
    // Later than now also when the answer came late: the slot of the next window must not take its place meanwhile.
    values[slot + expiresAt] = Math.max(now + 1, this.#sliding ? end + (end - start) : end);
    return slot;
  }

  /** `share` null: the node holds enough of the window. */
  #emergencyOf(
    at: number,
    now: number,
    cost: number,
    nodes: number,
  ): { readonly leased: number; readonly share: EmergencyShare | null } {
    const { values } = this.#table;
    const { period, limit } = this.#limits[at]!;
    const leased = this.#find(at, now);
    if (leased >= 0) {
      values[leased + lastUsed] = now;
      if (values[leased + held]! >= cost) return { leased, share: null };
    }
    const { start, end } = this.windows[at]!;
    const window = { period, limit, sliding: this.#sliding, start, end, leased };
    return { leased, share: emergencyShare(this.#table, window, nodes, now) };
  }
}
