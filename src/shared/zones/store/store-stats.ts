import type { StoreStats } from '../../../plugin-sdk/shared-store.ts';
import { Header, pageBytes, Record, records } from './store-layout.ts';
import type { StoreMemory } from './store-memory.ts';

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
