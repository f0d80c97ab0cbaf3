import type { StoreStats } from '../../plugin-sdk/shared-store.ts';
import type { ZoneKind } from '../../plugin-sdk/zones.ts';
import { type LabelledCountsStats, labelledCountsStats, recoverLabelledCounts } from './series/labelled-counts.ts';
import { type SeriesStats, seriesStats } from './series/series.ts';
import { recoverStore, storeStats } from './store/store-recovery.ts';
import { recoverZone, type ZoneStats, zoneStats } from './zone-stats.ts';

/** The fill level of a zone: only its size when its content is unknown to the gateway. */
export type ZoneFill = ZoneStats | StoreStats | LabelledCountsStats | SeriesStats | { readonly bytes: number };

export function zoneFill(kind: ZoneKind, memory: SharedArrayBuffer): ZoneFill {
  if (kind === 'table') return zoneStats(memory);
  if (kind === 'counts') return labelledCountsStats(memory);
  if (kind === 'series') return seriesStats(memory);
  return kind === 'store' ? storeStats(memory) : { bytes: memory.byteLength };
}

/**
 * A worker has ended: repairs what it left incomplete in the zone. Call this before its successor starts. Series need
 * nothing: an incomplete record does not count.
 */
export function recoverMemory(kind: ZoneKind, memory: SharedArrayBuffer, worker: number): void {
  if (kind === 'table') recoverZone(memory, worker);
  else if (kind === 'store') recoverStore(memory, worker);
  else if (kind === 'counts') recoverLabelledCounts(memory, worker);
}
