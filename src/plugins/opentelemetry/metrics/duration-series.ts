import type { ZoneRequest } from '../../../plugin-sdk/limits.ts';
import { seriesZone } from '../../../plugin-sdk/series.ts';
import { type MetricsConfig, recordsRequests } from './metrics-config.ts';

/** Seconds: the bounds that OpenTelemetry's conventions name for durations of HTTP requests. */
export const durationBounds: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** A count for each bucket, and the sum behind them. */
export const sumCell = durationBounds.length + 1;
export const durationCells = sumCell + 1;

/** Whether the gateway is asked, or asks. */
export type DurationKind = 'server' | 'client';

export const serverLabels: readonly string[] = [
  'http.request.method',
  'url.scheme',
  'http.route',
  'http.response.status_code',
  'error.type',
  'network.protocol.version',
];

export const clientLabels: readonly string[] = [
  'http.request.method',
  'url.scheme',
  'server.address',
  'server.port',
  'http.response.status_code',
  'error.type',
];

/** Of the series of what found no place: the label that OpenTelemetry's specification of metrics has for it. */
export const overflowLabel = 'otel.metric.overflow';

export const labelTypes: ReadonlyMap<string, 'whole' | 'flag'> = new Map([
  ['http.response.status_code', 'whole'],
  ['server.port', 'whole'],
  [overflowLabel, 'flag'],
]);

/** Combinations of labels of each kind that are told apart. */
const entries = 4000;

/** Each instance counts for its own collector. */
export function durationZone(kind: DurationKind, instanceId: string): string {
  return `${kind}-durations-${instanceId}`;
}

export function metricsZones(config: Pick<MetricsConfig, 'metrics'>, instanceId: string): readonly ZoneRequest[] {
  if (!recordsRequests(config)) return [];
  return (['server', 'client'] as const).map((kind) =>
    seriesZone(durationZone(kind, instanceId), { entries, cells: durationCells }),
  );
}
