import type { ZoneRequest } from '../../plugin-sdk/zones.ts';
import { SeriesWriter } from '../../shared/zones/series/series.ts';
import { seriesBytes, seriesShare } from '../../shared/zones/series/series-layout.ts';

export { clearSeries, SeriesWriter } from '../../shared/zones/series/series.ts';
export {
  readSeries,
  type Series,
  type SeriesEntry,
  SeriesReader,
  type SeriesSums,
} from '../../shared/zones/series/series-reader.ts';

export interface SeriesZoneOptions {
  /** Series per worker whose labels have about 120 bytes in total; fewer for longer labels. */
  readonly entries: number;
  /** Numbers per series. */
  readonly cells: number;
}

/**
 * The zone to declare for numbers by label, exact over all workers of the node: counters, sums, buckets of histograms. A worker adds
 * with `seriesWriter`, in nanoseconds; the control plane reads with `readSeries` or a `SeriesReader`. The zone does not grow: when it
 * is full, further labels are counted in one series without labels. What an ended worker has counted stays.
 *
 * @example
 * export const zones = () => [seriesZone('visits', { entries: 1000, cells: 1 })]; // zones.ts
 *
 * const writer = seriesWriter(tools.zone('visits'), tools.node.worker, 1); // in setup
 * writer.values[writer.place([route.id])] += 1; // in a phase
 *
 * const { series } = readSeries(zone(id, 'visits'), 1); // metrics.ts
 */
export function seriesZone(name: string, { entries, cells }: SeriesZoneOptions): ZoneRequest {
  return { name, bytes: seriesBytes(entries, cells), perWorker: seriesShare(entries, cells), kind: 'series' };
}

const writers = new WeakMap<SharedArrayBuffer, SeriesWriter[]>();

/**
 * The writer of this worker for the memory of a zone; instances that share the memory share the writer. `worker`:
 * `tools.node.worker`. `cells`: those of `seriesZone`.
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
