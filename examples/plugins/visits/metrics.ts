import { readSeries } from 'sluicegate/plugin-kit/shared-memory';
import type { MetricFamily, PluginMetricsTools } from 'sluicegate/plugin-sdk';
import { bounds, bucketsAt, cells, sumCell, visitsCell, visitsZone } from './zones.ts';

/** What the workers have counted. All instances share one zone. */
export function metrics({ instances, zone }: PluginMetricsTools): readonly MetricFamily[] {
  const [memory] = instances().flatMap(({ id }) => zone(id, visitsZone) ?? []);
  if (memory === undefined) return [];
  const { series } = readSeries(memory, cells);
  return [
    {
      name: 'visits_total',
      help: 'Visits that were counted',
      type: 'counter',
      labelNames: ['route'],
      series: series.map(({ labels, cells: values }) => ({ labels, value: values[visitsCell] ?? 0 })),
    },
    {
      name: 'visits_redis_ms',
      help: 'Time that requests waited for Redis',
      type: 'histogram',
      labelNames: ['route'],
      bounds,
      series: series.map(({ labels, cells: values }) => ({
        labels,
        counts: values.slice(bucketsAt, sumCell),
        sum: values[sumCell] ?? 0,
      })),
    },
  ];
}
