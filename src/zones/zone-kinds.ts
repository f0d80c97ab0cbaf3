import type { ZoneKind } from '../plugin-sdk/limits.ts';
import { type LabelledCountsStats, labelledCountsStats, recoverLabelledCounts } from './labelled-counts.ts';
import { type SeriesStats, seriesStats } from './series.ts';
import { recoverStore, storeStats } from './store-recovery.ts';
import type { StoreStats } from './store-stats.ts';
import { recoverZone, type ZoneStats, zoneStats } from './zone-stats.ts';

/** What a zone tells of itself: only its size when the gateway does not know what is in it. */
export type ZoneFill = ZoneStats | StoreStats | LabelledCountsStats | SeriesStats | { readonly bytes: number };

export function zoneFill(kind: ZoneKind, memory: SharedArrayBuffer): ZoneFill {
  if (kind === 'table') return zoneStats(memory);
  if (kind === 'counts') return labelledCountsStats(memory);
  if (kind === 'series') return seriesStats(memory);
  return kind === 'store' ? storeStats(memory) : { bytes: memory.byteLength };
}

/**
 * A worker has ended: what it left half done in the zone is put right. To be called before its successor starts. Series need nothing: what
 * was half done there does not count.
 */
export function recoverMemory(kind: ZoneKind, memory: SharedArrayBuffer, worker: number): void {
  if (kind === 'table') recoverZone(memory, worker);
  else if (kind === 'store') recoverStore(memory, worker);
  else if (kind === 'counts') recoverLabelledCounts(memory, worker);
}
