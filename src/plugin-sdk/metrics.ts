import type { BackgroundInstance } from './background.ts';

/** Numbers of one name. A name ends as Prometheus wants it: `_total`, `_bytes`, `_ms`. */
export type MetricFamily = ScalarFamily | HistogramFamily;

interface FamilyHead {
  readonly name: string;
  readonly help: string;
  /** In the order in which they are written. */
  readonly labelNames: readonly string[];
}

export interface ScalarFamily extends FamilyHead {
  readonly type: 'counter' | 'gauge';
  /** Made while they are read: there may be a hundred thousand of them. */
  readonly series: Iterable<ScalarSeries>;
}

export interface ScalarSeries {
  /** One for each label name. Any text: whoever writes them escapes them. */
  readonly labels: readonly string[];
  readonly value: number;
}

export interface HistogramFamily extends FamilyHead {
  readonly type: 'histogram';
  /** Upper bounds, rising, without the infinite one. */
  readonly bounds: readonly number[];
  readonly series: Iterable<HistogramSeries>;
}

export interface HistogramSeries {
  readonly labels: readonly string[];
  /** How many fell into each bucket by itself (not summed up), one more than there are bounds. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

/** Reads what the workers of the node have counted. */
export interface PluginMetricsTools {
  /** The instances that are enabled. */
  instances(): readonly BackgroundInstance[];
  /** Memory of a zone that an instance declared; null when there is none. */
  zone(instanceId: string, name: string): SharedArrayBuffer | null;
  /** Asks the plugin's background part; null when it does not run. */
  background(message: unknown): Promise<unknown>;
  /** The upstreams that the node balances over, and where their targets stand. */
  upstreams(): Iterable<UpstreamState>;
}

export interface UpstreamState {
  readonly name: string;
  /** False: nothing could make an address unhealthy. */
  readonly checked: boolean;
  readonly targets: readonly TargetState[];
}

export interface TargetState {
  readonly host: string;
  readonly port: number;
  /** Empty while its name has none. */
  readonly addresses: readonly { readonly ip: string; readonly port: number; readonly healthy: boolean }[];
}

/**
 * What the module behind `metrics` exports: called on the control plane each time that somebody collects. Must not take long by itself:
 * what does goes into a promise, with pauses.
 */
export interface PluginMetricsModule {
  readonly metrics: (tools: PluginMetricsTools) => readonly MetricFamily[] | Promise<readonly MetricFamily[]>;
}
