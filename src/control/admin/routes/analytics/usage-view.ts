import { quantile, sketchCount } from '../../../../shared/usage/latency-sketch.ts';
import { other } from '../../../../shared/usage/series-key.ts';
import type { Latencies, Usage } from '../../../../shared/usage/usage.ts';
import type { Dimension, Grouping, UsageGroup } from '../../../usage/usage-reader.ts';
import { isoTime, type NamedFilter } from './usage-request.ts';

export type NameOf = (kind: NamedFilter, id: string) => string | null;

export const quantiles = [0.5, 0.9, 0.95, 0.99] as const;

/** A group as JSON, with only the fields that it is grouped by. */
export function shownGroup(group: UsageGroup, { by, time }: Grouping, nameOf: NameOf): Record<string, unknown> {
  const shown: Record<string, unknown> = time === null ? {} : { start: isoTime(group.start) };
  for (const dimension of by) shown[dimension] = shownDimension(group, dimension, nameOf);
  return { ...shown, ...shownNumbers(group) };
}

function shownDimension({ key }: UsageGroup, dimension: Dimension, nameOf: NameOf): unknown {
  if (dimension === 'status') return shownStatus(key.status);
  const value = key[dimension];
  if (value === '') return null;
  if (dimension === 'node' || dimension === 'version') return value;
  return {
    id: value,
    [dimension === 'consumer' ? 'username' : 'name']: value === other ? null : nameOf(dimension, value),
  };
}

/** Only the first digit is known of a status without a series of its own. */
export function shownStatus(status: number): number | string {
  return status < 10 ? `${status}xx` : status;
}

export function shownNumbers({
  usage,
  clientErrors,
  serverErrors,
}: Pick<UsageGroup, 'usage' | 'clientErrors' | 'serverErrors'>) {
  return {
    requests: usage.requests,
    errors: { '4xx': clientErrors, '5xx': serverErrors },
    bytes_in: usage.bytesIn,
    bytes_out: usage.bytesOut,
    latency: shownLatencies(usage.latency),
    upstream_latency: shownLatencies(usage.upstream),
  };
}

/** Milliseconds; null when there was none. */
export function shownLatencies({ sum, greatest, sketch }: Latencies): Readonly<Record<string, number>> | null {
  const count = sketchCount(sketch);
  if (count === 0) return null;
  const shown: Record<string, number> = { mean: rounded(sum / count) };
  for (const share of quantiles) shown[`p${share * 100}`] = rounded(quantile(sketch, share, greatest) ?? 0);
  return { ...shown, max: rounded(greatest) };
}

export const nothingUsed: Usage = {
  requests: 0,
  bytesIn: 0,
  bytesOut: 0,
  latency: { sum: 0, greatest: 0, sketch: [] },
  upstream: { sum: 0, greatest: 0, sketch: [] },
};

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
