import type { ZoneRequest } from '../../plugin-sdk/zones.ts';
import { LabelledCounter, labelledCountsBytes } from '../../shared/zones/series/labelled-counts.ts';

export type { LabelledCount, LabelledCountsContent } from '../../shared/zones/series/labelled-counts.ts';
export { readLabelledCounts } from '../../shared/zones/series/labelled-counts.ts';

/**
 * Counts by label, exact over all workers of the node, such as requests by version and consumer. The table does not grow: when it is
 * full, further labels are counted in one entry. Labels must come from a bounded set, such as names in the configuration, never from
 * a client.
 */
export interface LabelledCounts {
  /** Adds one. Labels of more than 168 bytes in total are counted in the entry for labels without a place. */
  add(labels: readonly string[]): void;
}

/** The zone to declare for `entries` combinations of labels. */
export function labelledCountsZone(name: string, entries: number): ZoneRequest {
  return { name, bytes: labelledCountsBytes(entries), kind: 'counts' };
}

/** Opens the counts of a zone. `worker`: `tools.node.worker`. `now`: milliseconds since the epoch. */
export function labelledCounts(
  memory: SharedArrayBuffer,
  worker: number,
  now: () => number = () => Date.now(),
): LabelledCounts {
  const counter = new LabelledCounter(memory, worker);
  return { add: (labels) => counter.add(labels, Math.floor(now() / 1000)) };
}
