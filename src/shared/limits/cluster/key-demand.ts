import { Field } from '../../zones/zone-layout.ts';
import type { ZoneTable } from '../../zones/zone-table.ts';
import { KeyField, keyTag } from './lease-slots.ts';

const { lastUsed, expiresAt } = Field;
const { quietUntil, units, since, size } = KeyField;

/** Milliseconds that a lease is meant to last, at the current rate of the key on this node. */
const horizon = 200;

/** A lease for fewer units would save nothing: each request asks for itself. */
export const smallestLease = 4;

/** Milliseconds without an accepted request after which a lease is given back. */
const idleTime = 150;

/** Minimum milliseconds between leases in the background. */
const quietTime = 20;

/** Milliseconds over which the rate is measured: at least, and at most about. After a longer pause, it begins again. */
const shortestMeasure = 100;
const longestMeasure = 400;
const longestPause = 2000;

/** Milliseconds after which the rate of a key that is not used can be forgotten. */
const memory = 60_000;

/** How many units the locked key of a table needs. All functions are for use between `lock` and `unlock`. */
export class KeyDemand {
  readonly #table: ZoneTable;

  constructor(table: ZoneTable) {
    this.#table = table;
  }

  /**
   * Counts accepted units. True: less than half of the last lease is left, and the next can be requested.
   *
   * @param least What is left of the scarcest window.
   */
  count(now: number, cost: number, least: number): boolean {
    const { values } = this.#table;
    const slot = this.#table.find(keyTag);
    if (slot < 0) return false;
    values[slot + units]! += cost;
    values[slot + lastUsed] = now;
    return least * 2 < values[slot + size]! && values[slot + quietUntil]! <= now;
  }

  /** Accepted units per millisecond, with those that wait; 0 while a lease of the key is requested already. */
  rateForLease(now: number, waiting: number): number {
    const { values } = this.#table;
    const slot = this.#table.claim(keyTag, now);
    if (slot < 0) return 0;
    const rate = this.#rate(slot, now, waiting);
    if (values[slot + lastUsed] === 0) values[slot + lastUsed] = now;
    values[slot + expiresAt] = now + memory;
    return values[slot + quietUntil]! > now ? 0 : rate;
  }

  /** A lease is requested now. `timeout`: milliseconds that the answer may take. */
  requested(now: number, timeout: number): void {
    const slot = this.#table.find(keyTag);
    if (slot >= 0) this.#table.values[slot + quietUntil] = now + timeout;
  }

  /** The request for a lease has failed. */
  failed(): void {
    const slot = this.#table.find(keyTag);
    if (slot >= 0) this.#table.values[slot + quietUntil] = 0;
  }

  /** Units have arrived: `spent` of them are used already, and `least` are left of the scarcest window. */
  leased(now: number, spent: number, least: number, ahead: boolean): void {
    const { values } = this.#table;
    const slot = this.#table.find(keyTag);
    if (slot < 0) return;
    values[slot + units]! += spent;
    if (spent > 0) values[slot + lastUsed] = now;
    values[slot + expiresAt] = now + memory;
    values[slot + size] = least < smallestLease ? 0 : least;
    if (ahead) values[slot + quietUntil] = now + quietTime;
  }

  /** Units that the key will need soon; 0: none, or so few that each request asks for itself. */
  need(now: number): number {
    const slot = this.#table.find(keyTag);
    if (slot < 0 || now - this.#table.values[slot + lastUsed]! >= idleTime) return 0;
    const need = Math.floor(this.#rate(slot, now, 0) * horizon);
    return need < smallestLease ? 0 : need;
  }

  /** What a lease is made for at a rate, in a window that ends in so many milliseconds. */
  target(rate: number, left: number): number {
    const target = Math.floor(rate * Math.min(horizon, left));
    return target < smallestLease ? 0 : target;
  }

  /** Called at least once for each lease, so it also forgets. */
  #rate(slot: number, now: number, waiting: number): number {
    const { values } = this.#table;
    const elapsed = now - values[slot + since]!;
    const counted = values[slot + units]!;
    if (elapsed < 0 || elapsed > longestPause) {
      // A key that was not used for a while begins with exact grants.
      values[slot + since] = now;
      values[slot + units] = 0;
      return 0;
    }
    if (elapsed > longestMeasure) {
      values[slot + since] = now - elapsed / 2;
      values[slot + units] = counted / 2;
    }
    return (counted + waiting) / Math.max(shortestMeasure, elapsed);
  }
}
