import type { BucketLimiter, BucketLimiterOptions } from '../../plugin-sdk/limits.ts';
import type { KeyHash } from '../zones/key-hash.ts';
import { Content, Field } from '../zones/zone-layout.ts';
import type { ZoneTable } from '../zones/zone-table.ts';

const { lastUsed, expiresAt } = Field;
/** Requests above the rate, with a fraction; and the time of that value. */
const excess = Field.first;
const since = Field.second;
/** Requests that were let through, for a process that hands its counters over. */
const admitted = Field.third;
const tag = 16;

/**
 * nginx's `limit_req`: a bucket that leaks at the rate. A request adds 1 to the excess; above `burst` it is rejected
 * and adds nothing; otherwise it conforms to the rate after `excess / rate`.
 */
export class LeakyBucket implements BucketLimiter {
  readonly #table: ZoneTable;
  readonly #hash: KeyHash;
  /** Requests per millisecond. */
  readonly #rate: number;
  readonly #burst: number;
  readonly #now: () => number;

  constructor(table: ZoneTable, { namespace, rate, burst, now = Date.now }: BucketLimiterOptions) {
    this.#table = table;
    table.holds(Content.buckets);
    this.#hash = table.hasher(namespace);
    this.#rate = rate / 1000;
    this.#burst = burst;
    this.#now = now;
  }

  take(key: string): number {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const now = this.#now();
    const slot = table.claim(tag, now);
    if (slot < 0) {
      table.unlock();
      return -1;
    }
    // A new slot and one whose bucket has run empty are alike: the first request passes at once.
    const fresh = values[slot + since] === 0;
    const level = fresh ? 0 : this.#levelAt(slot, now) + 1;
    values[slot + lastUsed] = now;
    if (level > this.#burst) {
      table.unlock();
      return -1;
    }
    values[slot + excess] = level;
    values[slot + since] = now;
    values[slot + admitted]!++;
    values[slot + expiresAt] = now + (level + 1) / this.#rate;
    table.unlock();
    return level / this.#rate;
  }

  excess(key: string): number {
    const table = this.#table;
    table.lock(this.#hash, key);
    const slot = table.find(tag);
    const level = slot < 0 ? 0 : Math.max(0, this.#levelAt(slot, this.#now()));
    table.unlock();
    return level;
  }

  /** The rest of the excess, from -1: a request to a bucket that has been empty for long is not above the rate. */
  #levelAt(slot: number, now: number): number {
    const { values } = this.#table;
    // The clock was set back: the bucket continues from here, or it would not leak until the clock has caught up.
    if (now < values[slot + since]!) values[slot + since] = now;
    return Math.max(-1, values[slot + excess]! - (now - values[slot + since]!) * this.#rate);
  }
}
