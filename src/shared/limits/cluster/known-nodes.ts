import type { KeyHash } from '../../zones/key-hash.ts';
import { Field } from '../../zones/zone-layout.ts';
import type { ZoneTable } from '../../zones/zone-table.ts';
import { nodesTag } from './lease-slots.ts';

/** How many nodes share the limits, as the store last said. It is in the zone, so that workers that start later know it, too. */
export class KnownNodes {
  readonly #table: ZoneTable;
  readonly #hash: KeyHash;
  #noted = 0;

  constructor(table: ZoneTable) {
    this.#table = table;
    this.#hash = table.hasher('lease-nodes');
  }

  /** 0: unknown. */
  get count(): number {
    const table = this.#table;
    table.lock(this.#hash, '');
    const slot = table.find(nodesTag);
    const count = slot < 0 ? 0 : table.values[slot + Field.first]!;
    table.unlock();
    return count;
  }

  note(count: number): void {
    if (count === this.#noted) return;
    this.#noted = count;
    const table = this.#table;
    table.lock(this.#hash, '');
    const slot = table.claim(nodesTag, 0);
    if (slot >= 0) {
      table.values[slot + Field.first] = count;
      table.values[slot + Field.expiresAt] = Number.POSITIVE_INFINITY;
    }
    table.unlock();
  }
}
