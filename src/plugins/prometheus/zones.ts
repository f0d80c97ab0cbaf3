import { seriesZone } from '../../plugin-kit/shared-memory/index.ts';
import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { PrometheusConfig } from './schema.ts';
import { bytesZone, requestsZone, timesZone } from './series-kinds.ts';

/** A memory for each kind of numbers that the instance counts. */
export function zones(config: PrometheusConfig): readonly ZoneRequest[] {
  const wanted = [
    { wanted: config.status_code_metrics, ...requestsZone },
    { wanted: config.latency_metrics, ...timesZone },
    { wanted: config.bandwidth_metrics, ...bytesZone },
  ];
  return wanted
    .filter((one) => one.wanted === true)
    .map(({ name, cells }) => seriesZone(name, { entries: config.max_series, cells }));
}
