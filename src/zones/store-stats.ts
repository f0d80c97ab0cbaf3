import { Header, pageBytes, Record, records } from './store-layout.ts';
import type { StoreMemory } from './store-memory.ts';

/** Totals are since the zone was made. */
export interface StoreStats {
  /** Size of the zone. */
  readonly bytes: number;
  /** Entries that fit at most, each of a page. */
  readonly slots: number;
  /** Entries that are there, those whose time is over included. */
  readonly used: number;
  /** Bytes for entries, and those of them that are taken. */
  readonly capacity: number;
  readonly taken: number;
  /** Entries that made room for others before their time was over. */
  readonly evictions: number;
  readonly hits: number;
  readonly misses: number;
}

export function statsOf({ words, doubles, bytes, geometry }: StoreMemory): StoreStats {
  let hits = 0;
  let misses = 0;
  for (let record = 0; record < records; record++) {
    const at = (geometry.records + record * 16) >> 1;
    hits += doubles[at + Record.hits]!;
    misses += doubles[at + Record.misses]!;
  }
  return {
    bytes: bytes.length,
    slots: geometry.slotCount,
    used: Atomics.load(words, Header.entries),
    capacity: geometry.pageCount * pageBytes,
    taken: Atomics.load(words, Header.usedPages) * pageBytes,
    evictions: Atomics.load(words, Header.evictions) >>> 0,
    hits,
    misses,
  };
}
