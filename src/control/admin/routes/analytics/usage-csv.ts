import { other } from '../../../../shared/usage/series-key.ts';
import type { Latencies } from '../../../../shared/usage/usage.ts';
import type { Dimension, Grouping, UsageGroup } from '../../../usage/usage-reader.ts';
import { csvLine } from './csv.ts';
import { isoTime, type NamedFilter } from './usage-request.ts';
import { type NameOf, quantiles, shownLatencies, shownStatus } from './usage-view.ts';

const latencyNames = ['mean', ...quantiles.map((share) => `p${share * 100}`), 'max'];

/** Names of the columns. */
export function csvHeader({ by, time }: Grouping): string {
  return csvLine([
    ...(time === null ? [] : ['start']),
    ...by.flatMap((dimension) => (isNamed(dimension) ? [`${dimension}_id`, dimension] : [dimension])),
    'requests',
    'errors_4xx',
    'errors_5xx',
    'bytes_in',
    'bytes_out',
    ...latencyNames.map((name) => `latency_${name}`),
    ...latencyNames.map((name) => `upstream_latency_${name}`),
  ]);
}

export function csvRow(group: UsageGroup, { by, time }: Grouping, nameOf: NameOf): string {
  const { usage, clientErrors, serverErrors } = group;
  return csvLine([
    ...(time === null ? [] : [isoTime(group.start)]),
    ...by.flatMap((dimension) => cellsOf(group, dimension, nameOf)),
    usage.requests,
    clientErrors,
    serverErrors,
    usage.bytesIn,
    usage.bytesOut,
    ...latencyCells(usage.latency),
    ...latencyCells(usage.upstream),
  ]);
}

function cellsOf({ key }: UsageGroup, dimension: Dimension, nameOf: NameOf): readonly (string | number)[] {
  if (dimension === 'status') return [shownStatus(key.status)];
  const value = key[dimension];
  if (!isNamed(dimension)) return [value];
  return [value, value === '' || value === other ? '' : (nameOf(dimension, value) ?? '')];
}

function latencyCells(latencies: Latencies): readonly (number | null)[] {
  const shown = shownLatencies(latencies);
  return latencyNames.map((name) => shown?.[name] ?? null);
}

function isNamed(dimension: Dimension): dimension is NamedFilter {
  return dimension === 'route' || dimension === 'service' || dimension === 'consumer';
}
