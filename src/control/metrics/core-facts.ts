import type { PluginMeterTotals } from '../../shared/zones/plugin-meter.ts';
import type { DnsFacts, NodeFacts } from '../admin/contract.ts';
import type { KnownDataPlane } from '../hybrid/known-data-plane.ts';

/** The sources of the node's own metrics. */
export interface CoreFacts {
  readonly node: Pick<NodeFacts, 'nodeId' | 'version' | 'pids' | 'connections' | 'memory' | 'zones' | 'pluginCounts'>;
  /** Shared counters of the workers (zones/counters.ts). */
  readonly counters: SharedArrayBuffer;
  /** Lines that the logs of the control plane have dropped; those of workers are in the counters. */
  readonly linesLost: () => number;
  /** Workers that should run, and those that do. */
  readonly workers: () => { readonly wanted: number; readonly running: readonly WorkerLoop[] };
  /** What plugins did, by name. */
  readonly plugins: () => Iterable<readonly [plugin: string, totals: PluginMeterTotals]>;
  /** Requests in flight in all workers. */
  readonly inFlight: () => number;
  /** How often a worker has died and was replaced. */
  readonly restarts: () => number;
  /** Of these, workers that did not respond, or whose heap stayed full. */
  readonly stuck: () => number;
  /** File descriptors of the process, and how often it ran out of them; null: not known. */
  readonly descriptors: () => {
    readonly open: number | null;
    readonly limit: number | null;
    readonly exhaustions: number;
  };
  /** Rejects when the store cannot be reached. */
  readonly ping: () => Promise<void>;
  readonly dns: () => Promise<DnsFacts>;
  /** Version of the config that was sent to the workers, and entities that could not be built. */
  readonly config: () => {
    readonly version: number;
    readonly failures: number;
    /** Milliseconds since the node last knew that it has the whole config; null: it has none yet. */
    readonly age: number | null;
  };
  /** Requests that analytics has lost, and series that wait for the store; null: there is no analytics. */
  readonly analytics: () => { readonly dropped: number; readonly waiting: number } | null;
  /** Of a control plane. Rejects while the store is unavailable. */
  readonly dataPlanes?: () => Promise<readonly KnownDataPlane[]>;
  /** Of a data plane: milliseconds since the epoch. */
  readonly clusterCertificateExpiry?: number;
}

/** Idle and active time of a worker's event loop since its start, in milliseconds. */
export interface WorkerLoop {
  readonly worker: number;
  readonly idle: number;
  readonly active: number;
  /** How late its timers run, 99th percentile of the last 5 s, in milliseconds. */
  readonly delay: number;
}
