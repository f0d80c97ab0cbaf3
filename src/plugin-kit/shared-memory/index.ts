/**
 * Memory that all workers of a node share: `sluicegate/plugin-kit/shared-memory`. `counter` and `histogram` for
 * metrics, `seriesWriter` for other numbers by label, `labelledCounts` for plain counters by label, `sharedCache` for values that are
 * loaded once for all workers, `sharedStore` for entries of bytes. Each needs a zone: that of the
 * meter, `seriesZone`, `labelledCountsZone`, `sharedCacheZone`, or a `ZoneRequest` of the kind `store`.
 */

export {
  type LabelledCount,
  type LabelledCounts,
  type LabelledCountsContent,
  labelledCounts,
  labelledCountsZone,
  readLabelledCounts,
} from './labelled-counts.ts';
export {
  type Count,
  type CounterOptions,
  counter,
  type HistogramOptions,
  histogram,
  type Meter,
  metricsOf,
  type Observe,
} from './meter.ts';
export { readSeries, type Series, SeriesReader, SeriesWriter, seriesWriter, seriesZone } from './series.ts';
export {
  type CacheLoader,
  CacheLoadFailed,
  type SharedCache,
  type SharedCacheOptions,
  sharedCache,
  sharedCacheZone,
} from './shared-cache.ts';
export { sharedStore } from './shared-store.ts';
