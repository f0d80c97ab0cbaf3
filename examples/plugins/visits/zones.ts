import { seriesZone } from 'sluicegate/plugin-kit/shared-memory';
import type { ZoneRequest } from 'sluicegate/plugin-sdk';

export const visitsZone = 'visits';

/** Upper bounds of the times in Redis, in milliseconds. */
export const bounds: readonly number[] = [1, 2, 5, 10, 25, 50, 100, 250, 1000];

/** What a series of this zone holds: a count of visits, one of times for each bucket, and the sum of the times. */
export const visitsCell = 0;
export const bucketsAt = 1;
export const sumCell: number = bucketsAt + bounds.length + 1;
export const cells: number = sumCell + 1;

/** One zone for all instances: routes have different labels. */
export function zones(): readonly ZoneRequest[] {
  return [seriesZone(visitsZone, { entries: 1000, cells })];
}
