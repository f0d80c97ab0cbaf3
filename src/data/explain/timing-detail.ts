import type { TraceSpan } from '../../plugin-sdk/trace.ts';
import { milliseconds } from '../answer/server-timing.ts';

/** Metrics in one header: browsers show a list. */
const maxMetrics = 40;

/** What `Server-Timing` says beyond gateway and backend: router, name resolution, balancer, connections, and each plugin over its phases. */
export function timingDetail(spans: readonly TraceSpan[]): string {
  const sums = new Map<string, number>();
  for (const { kind, name, start, end } of spans) {
    if (end === 0 || kind === 'attempt') continue;
    const metric = kind === 'plugin' ? `plugin-${name}` : kind;
    sums.set(metric, (sums.get(metric) ?? 0) + end - start);
  }
  return [...sums]
    .slice(0, maxMetrics)
    .map(([metric, duration]) => `${metric};dur=${milliseconds(duration)}`)
    .join(', ');
}
