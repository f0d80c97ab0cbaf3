import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MetricFamily, PluginMetricsTools } from '../../plugin-sdk/index.ts';
import { healthFamily } from './health.ts';
import { type KindMemories, requestFamilies } from './request-families.ts';
import type { PrometheusConfig } from './schema.ts';
import { bytesZone, requestsZone, timesZone } from './series-kinds.ts';
import { openMemory, type SeriesSource } from './series-source.ts';

/** Milliseconds of the search for new series before it yields to the event loop. */
const slice = 3;

/** The counts of the instances, and the health of targets if one of them shows it. */
export async function metrics(tools: PluginMetricsTools): Promise<readonly MetricFamily[]> {
  const instances = tools.instances();
  const memories: KindMemories = {
    requests: await open(tools, requestsZone),
    times: await open(tools, timesZone),
    bytes: await open(tools, bytesZone),
  };
  const health = instances.some(({ config }) => (config as PrometheusConfig).upstream_health_metrics === true);
  return [...requestFamilies(memories), ...(health ? [healthFamily(tools)] : [])];
}

/** The memories of all instances by this name; usually they share one. */
async function open(
  { instances, zone }: PluginMetricsTools,
  { name, cells }: { readonly name: string; readonly cells: number },
): Promise<SeriesSource> {
  const memories = new Set(instances().flatMap(({ id }) => zone(id, name) ?? []));
  const readers = [...memories].map((memory) => openMemory(memory, cells));
  let begun = performance.now();
  for (const reader of readers) {
    for (const _ of reader.update()) {
      if (performance.now() - begun < slice) continue;
      await nextTurn();
      begun = performance.now();
    }
  }
  return { readers, cells };
}
