import type { MetricFamily, PluginMetricsModule, PluginMetricsTools } from '../../plugin-sdk/metrics.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';
import type { ZoneRequest } from '../../plugin-sdk/zones.ts';
import { readSeries, type Series, type SeriesWriter, seriesWriter, seriesZone } from './series.ts';

interface MeterHead {
  /** A Prometheus name that begins with the name of the plugin: `hello_greetings_total`, `hello_wait_ms`. */
  readonly name: string;
  readonly help: string;
  /** Names of labels. Default: none. */
  readonly labels?: readonly string[];
  /** Combinations of labels that each worker has room for; others are counted together, as `(other)`.
   * Default: 100. */
  readonly entries?: number;
}

/** For `counter`. */
export interface CounterOptions extends MeterHead {}

/** For `histogram`. */
export interface HistogramOptions extends MeterHead {
  /** Upper bounds of the buckets, ascending, without the infinite one. */
  readonly bounds: readonly number[];
}

/** What `zones` and `metrics` of a plugin need, and how a worker writes. */
export interface Meter<Write> {
  readonly zone: ZoneRequest;
  /** Call it in `setup`. */
  open(tools: Pick<PluginTools, 'zone' | 'node'>): Write;
  /** The family, for `metrics`. */
  read(tools: Pick<PluginMetricsTools, 'instances' | 'zone'>): MetricFamily | null;
}

/** Adds to a counter. `labels` come from the configuration or another bounded set, never from a client. `by`: default 1. */
export type Count = (labels?: readonly string[], by?: number) => void;
/** Adds an observation to a histogram. */
export type Observe = (value: number, labels?: readonly string[]) => void;

/**
 * A counter in `GET /metrics` and all exporters, exact over all workers of the node. Its name ends with `_total`.
 *
 * @example
 * export const greetings = counter({ name: 'hello_greetings_total', help: 'Greetings', labels: ['kind'] });
 * // in definePlugin: zones: () => [greetings.zone], metrics: metricsOf(greetings)
 * const greeted = greetings.open(tools); // in setup
 * greeted(['short']); // in a phase
 */
export function counter({ name, help, labels = [], entries = 100 }: CounterOptions): Meter<Count> {
  const zone = seriesZone(name, { entries, cells: 1 });
  return {
    zone,
    open(tools) {
      const writer = seriesWriter(tools.zone(name), tools.node.worker, 1);
      return (values = [], by = 1) => {
        writer.values[placeOf(writer, values)]! += by;
      };
    },
    read(tools) {
      const memory = memoryOf(tools, name);
      if (memory === null) return null;
      const series = seriesIn(memory, 1, labels);
      return {
        ...{ name, help, type: 'counter', labelNames: labels },
        series: series.map((one) => ({ labels: one.labels, value: one.cells[0] ?? 0 })),
      };
    },
  };
}

/**
 * A histogram in `GET /metrics` and all exporters, exact over all workers of the node.
 *
 * @example
 * export const waits = histogram({ name: 'hello_wait_ms', help: 'Waits', bounds: [1, 10, 100, 1000] });
 * const waited = waits.open(tools); // in setup
 * waited(performance.now() - start); // in a phase
 */
export function histogram({ name, help, labels = [], entries = 100, bounds }: HistogramOptions): Meter<Observe> {
  const cells = bounds.length + 2;
  const zone = seriesZone(name, { entries, cells });
  return {
    zone,
    open(tools) {
      const writer = seriesWriter(tools.zone(name), tools.node.worker, cells);
      return (value, values = []) => {
        const at = placeOf(writer, values);
        const bucket = bounds.findIndex((bound) => value <= bound);
        writer.values[at + (bucket < 0 ? bounds.length : bucket)]! += 1;
        writer.values[at + cells - 1]! += value;
      };
    },
    read(tools) {
      const memory = memoryOf(tools, name);
      if (memory === null) return null;
      const series = seriesIn(memory, cells, labels);
      return {
        ...{ name, help, type: 'histogram', labelNames: labels, bounds },
        series: series.map((one) => ({
          labels: one.labels,
          counts: one.cells.slice(0, cells - 1),
          sum: one.cells[cells - 1] ?? 0,
        })),
      };
    },
  };
}

/**
 * The `metrics` of `definePlugin` for these meters.
 *
 * @example
 * metrics: metricsOf(greetings, waits),
 */
export function metricsOf(...meters: readonly Pick<Meter<unknown>, 'read'>[]): () => Promise<PluginMetricsModule> {
  return async () => ({ metrics: (tools) => meters.flatMap((meter) => meter.read(tools) ?? []) });
}

/** All instances share the zone. */
function memoryOf({ instances, zone }: Pick<PluginMetricsTools, 'instances' | 'zone'>, name: string) {
  for (const { id } of instances()) {
    const memory = zone(id, name);
    if (memory !== null) return memory;
  }
  return null;
}

/** A writer counts what has no labels with what finds no place. */
const unlabelled: readonly string[] = [''];

function placeOf(writer: SeriesWriter, labels: readonly string[]): number {
  return writer.place(labels.length === 0 ? unlabelled : labels);
}

/** All series, with those that found no place as one. */
function seriesIn(memory: SharedArrayBuffer, cells: number, names: readonly string[]): readonly Series[] {
  const { series, overflow } = readSeries(memory, cells);
  const all = series.map((one) => ({ ...one, labels: names.map((_, at) => one.labels[at] ?? '') }));
  if (overflow.some((number) => number !== 0)) all.push({ labels: names.map(() => '(other)'), cells: overflow });
  return all;
}
