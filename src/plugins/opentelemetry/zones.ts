import { seriesZone } from '../../plugin-kit/shared-memory/index.ts';
import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import { type DurationKind, durationCells } from './metrics/duration-series.ts';
import { type MetricsConfig, recordsRequests } from './metrics/metrics-config.ts';

/** Combinations of labels of each kind that have a series of their own. */
const entries = 4000;

/** Each instance counts for its own collector. */
export function durationZone(kind: DurationKind, instanceId: string): string {
  return `${kind}-durations-${instanceId}`;
}

export function zones(config: Pick<MetricsConfig, 'metrics'>, instanceId: string): readonly ZoneRequest[] {
  if (!recordsRequests(config)) return [];
  return (['server', 'client'] as const).map((kind) =>
    seriesZone(durationZone(kind, instanceId), { entries, cells: durationCells }),
  );
}
