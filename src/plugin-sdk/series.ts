import { SeriesWriter } from '../zones/series.ts';
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
 * through the `seriesWriter`, an addition of some nanoseconds; the control plane reads with a `SeriesReader`. The zone is as
 * large as all workers together need (`GET /status` shows it), does not grow, and takes memory for what is used only. What finds no
 * place in it is counted in one series without labels. A worker that ends loses nothing that it has counted.
 */
export function seriesZone(name: string, { entries, cells }: SeriesZoneOptions): ZoneRequest {
  return { name, bytes: seriesBytes(entries, cells), perWorker: seriesShare(entries, cells), kind: 'series' };
}

const writers = new WeakMap<SharedArrayBuffer, SeriesWriter[]>();

/**
 * The writer of this thread for a memory (`tools.zone`): plugin instances that share the memory share it, too. A writer knows all series
 * of its worker; one for each instance would know them again and again. `worker`: `tools.node.worker`.
 */
export function seriesWriter(memory: SharedArrayBuffer, worker: number, cells: number): SeriesWriter {
  const known = writers.get(memory) ?? [];
  writers.set(memory, known);
  const found = known.find((one) => one.worker === worker && one.cells === cells);
  if (found !== undefined) return found;
  const made = new SeriesWriter(memory, worker, cells);
  known.push(made);
  return made;
}
