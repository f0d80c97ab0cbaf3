import type { ConcurrencyLimiter, ConcurrencyLimiterOptions } from '../plugin-sdk/limits.ts';
import type { KeyHash } from '../zones/key-hash.ts';
import { Field, firstWorkerTag } from '../zones/zone-layout.ts';
import type { ZoneTable } from '../zones/zone-table.ts';

const { lastUsed, expiresAt } = Field;
const inFlight = Field.first;

/** What is in flight of a key: each worker counts its own, so that what a dead one held can be given back. */
export class Concurrency implements ConcurrencyLimiter {
  readonly #table: ZoneTable;
  readonly #hash: KeyHash;
  readonly #limit: number;
  readonly #tag: number;

  constructor(table: ZoneTable, worker: number, { namespace, limit }: ConcurrencyLimiterOptions) {
    this.#table = table;
    this.#hash = table.hasher(namespace);
    this.#limit = limit;
    this.#tag = firstWorkerTag + worker;
  }

  acquire(key: string): number {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const before = table.sum(inFlight, firstWorkerTag);
    const now = Date.now();
    const slot = before < this.#limit ? table.claim(this.#tag, now) : -1;
    if (slot >= 0) {
      values[slot + inFlight]! += 1;
      values[slot + lastUsed] = now;
      values[slot + expiresAt] = Number.POSITIVE_INFINITY;
    }
    table.unlock();
    return slot < 0 ? -1 : before + 1;
  }

  release(key: string): void {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const slot = table.find(this.#tag);
    if (slot >= 0) {
      values[slot + inFlight]! -= 1;
      if (values[slot + inFlight]! <= 0) table.release(slot);
    }
    table.unlock();
  }
}
