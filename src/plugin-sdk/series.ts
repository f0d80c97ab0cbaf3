import { seriesBytes, seriesShare } from '../zones/series-layout.ts';
import type { ZoneRequest } from './limits.ts';

export { clearSeries, SeriesWriter } from '../zones/series.ts';
export { readSeries, type Series, type SeriesEntry, SeriesReader, type SeriesSums } from '../zones/series-reader.ts';

export interface SeriesZoneOptions {
  /** Series that each worker has room for when their labels have about 120 bytes together; of longer ones fewer. */
  readonly entries: number;
  /** Numbers of each series. */
  readonly cells: number;
}

/**
 * The zone to declare for labelled numbers, exact over all workers of the node: counters, sums, buckets of histograms. A worker writes
 * through a `SeriesWriter`, an addition of some nanoseconds; the control plane reads with a `SeriesReader`. The zone is as
 * large as all workers together need (`GET /status` shows it), does not grow, and takes memory for what is used only. What finds no
 * place in it is counted in one series without labels. A worker that ends loses nothing that it has counted.
 */
export function seriesZone(name: string, { entries, cells }: SeriesZoneOptions): ZoneRequest {
  return { name, bytes: seriesBytes(entries, cells), perWorker: seriesShare(entries, cells), kind: 'series' };
}
