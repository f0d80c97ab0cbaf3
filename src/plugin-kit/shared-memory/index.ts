/**
 * Memory that all workers of a node share: `sluicegate/plugin-kit/shared-memory`. `seriesWriter` for numbers by label,
 * `labelledCounts` for plain counters by label, `sharedStore` for entries of bytes. Each needs a zone: `seriesZone`,
 * `labelledCountsZone`, or a `ZoneRequest` of the kind `store`.
 */

export {
  type LabelledCount,
  type LabelledCounts,
  type LabelledCountsContent,
  labelledCounts,
  labelledCountsZone,
  readLabelledCounts,
} from './labelled-counts.ts';
export { readSeries, type Series, SeriesReader, SeriesWriter, seriesWriter, seriesZone } from './series.ts';
export { sharedStore } from './shared-store.ts';
