import type { ConfiguredInstance } from './tools.ts';

/** A metric with its series. */
export type MetricFamily = ScalarFamily | HistogramFamily;

interface FamilyHead {
  /**
   * A Prometheus name with its unit at the end: `_total` for counters, `_bytes`, `_ms`. A family whose name is invalid, or
   * that another plugin has already, is left out.
   */
  readonly name: string;
  readonly help: string;
  /** In the order in which they are written. */
  readonly labelNames: readonly string[];
}

/** A counter or gauge. */
export interface ScalarFamily extends FamilyHead {
  readonly type: 'counter' | 'gauge';
  /** May be a generator: a family can have a hundred thousand series. */
  readonly series: Iterable<ScalarSeries>;
}

/** One number. */
export interface ScalarSeries {
  /** One value for each label name. Any text: the exporters escape it. */
  readonly labels: readonly string[];
  readonly value: number;
}

/** A histogram; all its series have the same bounds. */
export interface HistogramFamily extends FamilyHead {
  readonly type: 'histogram';
  /** Upper bounds of the buckets, ascending, without the infinite one. */
  readonly bounds: readonly number[];
  readonly series: Iterable<HistogramSeries>;
}

/** One distribution. */
export interface HistogramSeries {
  /** One value for each label name. */
  readonly labels: readonly string[];
  /** Observations of each bucket alone, not cumulative. One more than there are bounds. */
  readonly counts: ArrayLike<number>;
  /** Sum of all observations. */
  readonly sum: number;
}

/** What the gateway passes to `metrics`. */
export interface PluginMetricsTools {
  /** The enabled instances. */
  instances(): readonly ConfiguredInstance[];
  /** The memory of a zone that the instance declares; null: it declares no such zone. */
  zone(instanceId: string, name: string): SharedArrayBuffer | null;
  /** Sends a message to the plugin's background part; null while it does not run. */
  background(message: unknown): Promise<unknown>;
  /** The upstreams of the configuration, with the state of their targets. */
  upstreams(): Iterable<UpstreamState>;
}

/** An upstream and the state of its targets. */
export interface UpstreamState {
  readonly name: string;
  /** False: health checks are off, so every address counts as healthy. */
  readonly checked: boolean;
  readonly targets: readonly TargetState[];
}

/** A target and the addresses of its name. */
export interface TargetState {
  readonly host: string;
  readonly port: number;
  /** Empty while the name does not resolve. */
  readonly addresses: readonly { readonly ip: string; readonly port: number; readonly healthy: boolean }[];
}

/**
 * What `metrics.ts` of a plugin exports. Called on the control plane for each scrape and each export. Do not block: await
 * between pieces of work over some milliseconds.
 *
 * Numbers that workers count need shared memory: see `seriesWriter` of `plugin-kit/shared-memory`. For a plain count,
 * `tools.count` is enough.
 *
 * @example
 * export async function metrics({ background }: PluginMetricsTools): Promise<readonly MetricFamily[]> {
 *   const waiting = Number((await background('waiting')) ?? 0);
 *   const series = [{ labels: [], value: waiting }];
 *   return [{ name: 'hello_waiting', help: 'Greetings to send', type: 'gauge', labelNames: [], series }];
 * }
 */
export interface PluginMetricsModule {
  readonly metrics: (tools: PluginMetricsTools) => readonly MetricFamily[] | Promise<readonly MetricFamily[]>;
}
