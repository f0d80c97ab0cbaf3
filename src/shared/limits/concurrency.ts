import type { ConcurrencyLimiter, ConcurrencyLimiterOptions } from '../../plugin-sdk/limits.ts';
import type { KeyHash } from '../zones/key-hash.ts';
import { Field, firstWorkerTag, workerCell, workerTag } from '../zones/zone-layout.ts';
import type { ZoneTable } from '../zones/zone-table.ts';

const { lastUsed, expiresAt } = Field;
const inFlight = Field.first;

/** Maximum that one worker can have in flight for a key. */
const maxPerWorker = 0xffff;

/**
 * Requests in flight for a key: each worker counts its own, so that the count of a dead one can be released. A bucket
 * has room for the counts of 180 workers for one key. With more workers, those without a slot reject.
 */
export class Concurrency implements ConcurrencyLimiter {
  readonly #table: ZoneTable;
  readonly #hash: KeyHash;
  readonly #limit: number;
  readonly #worker: number;
  readonly #tag: number;
  readonly #cells: Uint16Array;

  constructor(table: ZoneTable, worker: number, { namespace, limit }: ConcurrencyLimiterOptions) {
    this.#table = table;
    this.#hash = table.hasher(namespace);
    this.#limit = limit;
    this.#worker = worker;
    this.#tag = workerTag(worker);
    this.#cells = new Uint16Array(table.values.buffer, 0, table.values.length * 4);
  }

  acquire(key: string): number {
    const table = this.#table;
    const { values } = table;
    table.lock(this.#hash, key);
    const before = table.sum(inFlight, firstWorkerTag);
    const now = Date.now();
    const slot = before < this.#limit ? table.claim(this.#tag, now) : -1;
    const taken = slot >= 0 && this.#change(slot, 1);
    if (slot >= 0) {
      values[slot + lastUsed] = now;
      values[slot + expiresAt] = Number.POSITIVE_INFINITY;
    }
    table.unlock();
    return taken ? before + 1 : -1;
  }

  release(key: string): void {
    const table = this.#table;
    table.lock(this.#hash, key);
    const slot = table.find(this.#tag);
    if (slot >= 0) {
      this.#change(slot, -1);
      if (table.values[slot + inFlight]! <= 0) table.release(slot);
    }
    table.unlock();
  }

  /** False: this worker's count cannot change by that. */
  #change(slot: number, by: number): boolean {
    const cell = workerCell(slot, this.#worker);
    const count = this.#cells[cell]! + by;
    if (count < 0 || count > maxPerWorker) return false;
    this.#cells[cell] = count;
    this.#table.values[slot + inFlight]! += by;
    return true;
  }
}
