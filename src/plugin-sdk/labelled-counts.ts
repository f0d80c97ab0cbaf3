import { LabelledCounter, labelledCountsBytes } from '../zones/labelled-counts.ts';
import type { ZoneRequest } from './limits.ts';

export type { LabelledCount, LabelledCountsContent } from '../zones/labelled-counts.ts';
export { readLabelledCounts } from '../zones/labelled-counts.ts';

/**
 * Counts by labels, exact over all workers of the node: requests by version and consumer. The table does not grow; what finds no place in
 * it is counted in one entry. Labels must come from a bounded set, such as names in the configuration, never from a client.
 */
export interface LabelledCounts {
  /** Adds one. Labels of more than 168 bytes together are counted among those that have no place. */
  add(labels: readonly string[]): void;
}

/** The zone to declare for them. */
export function labelledCountsZone(name: string, entries: number): ZoneRequest {
  return { name, bytes: labelledCountsBytes(entries), kind: 'counts' };
}

/** `worker`: `tools.node.worker`. `now`: milliseconds since the epoch. */
export function labelledCounts(
  memory: SharedArrayBuffer,
  worker: number,
  now: () => number = () => Date.now(),
): LabelledCounts {
  const counter = new LabelledCounter(memory, worker);
  return { add: (labels) => counter.add(labels, Math.floor(now() / 1000)) };
}
