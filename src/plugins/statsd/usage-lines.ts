import { isSampled, lineEnd, namePart, tagText, valueText } from '../../plugin-kit/telemetry/statsd/index.ts';
import type { MetricFamily, ScalarSeries } from '../../plugin-sdk/index.ts';
import type { StatsdConfig } from './schema.ts';

/** The node's metric families of the shared memory; this label is the zone. */
const usedFamily = 'kong_memory_lua_shared_dict_bytes';
const totalFamily = 'kong_memory_lua_shared_dict_total_bytes';
const zoneLabel = 'shared_dict';

/** The lines of `shdict_usage`: used and total bytes of each zone. */
export function usageLines(
  config: StatsdConfig,
  hostname: string,
  families: readonly MetricFamily[],
  draw: () => number = Math.random,
): readonly string[] {
  const used = byZone(families, usedFamily);
  const total = byZone(families, totalFamily);
  return (config.metrics ?? []).flatMap((metric) => {
    if (metric.name !== 'shdict_usage') return [];
    const { stat_type: type, sample_rate } = metric;
    const rate = isSampled(type) ? Math.min(1, sample_rate ?? 1) : 1;
    if (draw() >= rate) return [];
    const end = lineEnd(type, rate);
    return [...total].flatMap(([zone, capacity]) => {
      const free = Math.max(0, capacity - (used.get(zone) ?? capacity));
      const name = usageName(config, hostname, zone);
      return [name('free_space', free, end), name('capacity', capacity, end)];
    });
  });
}

function usageName(
  { prefix, tag_style: style }: StatsdConfig,
  hostname: string,
  zone: string,
): (what: string, value: number, end: string) => string {
  const begin = prefix ?? 'kong';
  if (style === null) {
    const scope = `${begin}.node.${namePart(hostname)}.shdict.${namePart(zone)}`;
    return (what, value, end) => `${scope}.${what}:${value}${end}`;
  }
  const tags = tagText(style, [
    { name: 'node', value: valueText(hostname) },
    { name: 'shdict', value: valueText(zone) },
  ]);
  if (style === 'dogstatsd') return (what, value, end) => `${begin}.shdict.${what}:${value}${end}${tags}`;
  return (what, value, end) => `${begin}.shdict.${what}${tags}:${value}${end}`;
}

function byZone(families: readonly MetricFamily[], name: string): ReadonlyMap<string, number> {
  const family = families.find((one) => one.name === name);
  if (family === undefined || family.type === 'histogram') return new Map();
  const at = family.labelNames.indexOf(zoneLabel);
  return new Map([...family.series].map(({ labels, value }: ScalarSeries) => [labels[at] ?? '', value]));
}
