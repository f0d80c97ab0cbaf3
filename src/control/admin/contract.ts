import type { PluginAdminRoutes } from '../../plugin-sdk/admin-routes.ts';
import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import type { PluginCatalog } from '../../shared/entities/plugin-catalog.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';
import type { LogLevel, Settings } from '../../shared/settings/settings.ts';
import type { InheritedDescriptors, ListeningSocket } from '../../shared/sockets/listening-sockets.ts';
import type { DeclarativeConfig } from '../declarative/db-less/declarative-config.ts';
import type { NameState } from '../dns/types.ts';
import type { KnownDataPlane } from '../hybrid/known-data-plane.ts';
import type { NodeListing } from '../nodes/node-list.ts';
import type { NodeLoadReport } from '../nodes/node-report.ts';
import type { OverviewFacts } from '../overview/overview-facts.ts';
import type { ReloadRequest } from '../plugin-reload/plugin-reload.ts';
import type { ReloadOutcome, ReloadState } from '../plugin-reload/reload-outcome.ts';
import type { Store } from '../store/store.ts';
import type { TrafficDesk } from '../traffic/traffic-desk.ts';
import type { Analytics } from '../usage/analytics.ts';
import type { WhatIf } from '../what-if/what-if.ts';
import type { AdminLog } from './admin-log.ts';
import type { TemporaryLogLevel } from './temporary-log-level.ts';

/** Facts about the node, for `GET /` and `GET /status`. */
export interface NodeFacts {
  readonly nodeId: string;
  readonly version: string;
  readonly hostname: string;
  /** Process id of the node, and one number for each running worker. */
  readonly pids: { readonly master: number; readonly workers: readonly number[] };
  /** Sums over all workers, read from shared memory. */
  connections(): ConnectionFacts;
  /** Bytes of heap used, one entry for each worker. */
  memory(): Promise<readonly { readonly worker: number; readonly heapUsed: number }[]>;
  /** Zones in shared memory that plugins declared. */
  zones(): readonly ZoneFacts[];
  /** What plugins counted, by plugin and name. */
  pluginCounts(): Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Null when the node has a configuration and listens; else the reason why it is not ready. */
  notReadyReason(): string | null;
}

export interface ZoneFacts {
  readonly plugin: string;
  readonly name: string;
  /**
   * `table`: counters of limits and circuits. `store`: entries of a cache. `counts`: counts with labels. `series`: labelled numbers of
   * metrics. `raw`: the plugin's own; only its size is known.
   */
  readonly kind: 'table' | 'store' | 'counts' | 'series' | 'raw';
  readonly bytes: number;
  /** Maximum and current number of keys; of series: slots in use, one for each worker that has counted one. */
  readonly slots?: number;
  readonly used?: number;
  /** Keys that were evicted since the zone was created. */
  readonly evictions?: number;
  /** Of a store and of series: bytes for entries, and how many of them are in use. */
  readonly capacity?: number;
  readonly taken?: number;
  readonly hits?: number;
  readonly misses?: number;
}

export interface ConnectionFacts {
  readonly accepted: number;
  readonly handled: number;
  readonly active: number;
  readonly reading: number;
  readonly writing: number;
  readonly waiting: number;
  readonly totalRequests: number;
  /** Requests refused because of overload. */
  readonly shed: number;
}

/** Facts about name resolution. */
export interface DnsFacts {
  /** The name servers: `10.0.0.2:53`. */
  readonly servers: readonly string[];
  /** Counts since the start. */
  readonly counts: Readonly<Record<string, number>>;
  /** The names in use; null: the first query is in progress. */
  readonly names: Iterable<readonly [string, NameState | null]>;
  /** Number of names. */
  readonly size: number;
}

/** Health of an upstream as the node sees it. */
export interface UpstreamHealthFacts {
  /** False: nothing could make an address unhealthy. */
  readonly checked: boolean;
  /** More of the weight is available than the threshold requires. */
  readonly healthy: boolean;
  readonly targets: readonly TargetHealthFacts[];
  /** The last changes, the latest first. */
  readonly transitions: readonly HealthTransitionFacts[];
}

export interface TargetHealthFacts {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** Why its name has no address; null: it has one, or the query is in progress. */
  readonly error: string | null;
  readonly addresses: readonly {
    readonly ip: string;
    readonly port: number;
    readonly weight: number;
    readonly healthy: boolean;
  }[];
}

export interface HealthTransitionFacts {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** `10.0.0.1:80` */
  readonly address: string;
  readonly healthy: boolean;
  /** The source: active or passive checks, a person, or a change of the config. */
  readonly source: string;
  readonly reason: string;
}

/** The health of backends as the node sees it. */
export interface HealthFacts {
  /** Null: the node does not balance over the upstream (yet). */
  stateOf(upstreamId: string): UpstreamHealthFacts | null;
  /**
   * Sets health by hand: of all addresses of a target, or of one (`10.0.0.1:80`). `off`: the upstream has no checks;
   * `unknown`: the target has no such address. Other nodes of the database receive it, too.
   */
  setHealth(
    upstreamId: string,
    targetId: string,
    address: string | null,
    healthy: boolean,
  ): Promise<'done' | 'off' | 'unknown'>;
}

/** The nodes that share the store, and how loaded this one is. */
export interface ClusterFacts {
  list(): Promise<NodeListing>;
  load(): NodeLoadReport;
  /** Milliseconds since the node last knew that it has the whole config; null: it has none yet. */
  configAge(): number | null;
}

/** Carries committed changes to the workers. */
export interface ConfigPublisher {
  /**
   * Resolves when every worker of this node routes by the store's `version` or later, or after `timeout` milliseconds. Default: the
   * wait of a write of the Admin API.
   */
  published(version: number, timeout?: number): Promise<void>;
  /** Errors of entities that could not be built into the snapshot, by `<entity>:<id>`. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Everything that the Admin API needs; created by the gateway at start. */
export interface AdminDependencies {
  readonly settings: Settings;
  readonly store: Store;
  readonly publisher: ConfigPublisher;
  readonly node: NodeFacts;
  readonly nodes: ClusterFacts;
  readonly dns: () => Promise<DnsFacts>;
  readonly health: HealthFacts;
  /** Null: there is a database, which the Admin API writes to. */
  readonly declarative: DeclarativeConfig | null;
  /** Null: the API's usage is not counted. */
  readonly analytics: Analytics | null;
  /** The recorded traffic; null: the node carries none. */
  readonly traffic: TrafficDesk | null;
  /** Repeats recorded requests; null: the node carries no traffic. */
  readonly whatIf: WhatIf | null;
  /** Exchanges the code of users' plugins. */
  readonly pluginReload: PluginReloads;
  readonly metrics: MetricsFacts;
  /** Of a data plane: stands for its config; null elsewhere. */
  readonly configHash: (() => string) | null;
  /** All data planes, by id; null: the node is no control plane. Rejects while the store is unavailable. */
  readonly dataPlanes: (() => Promise<readonly KnownDataPlane[]>) | null;
  readonly overview: OverviewFacts;
  /** Proves to the workers that the Admin API sends a request for a caller. */
  readonly requestKey: string;
  /** Aborted when the node stops, before the listeners close: answers that have no end must end then. */
  readonly closing: AbortSignal;
}

/** Reloads of the code of users' plugins. */
export interface PluginReloads {
  /** Rejects with a `ReloadRuns` while another one runs. */
  run(request: ReloadRequest): Promise<ReloadOutcome>;
  state(): ReloadState;
}

/** All metrics of the node. */
export interface MetricsFacts {
  /** An instance of `prometheus` is enabled. */
  enabled(): boolean;
  collect(): Promise<readonly MetricFamily[]>;
  /** Reports a family whose series could not be read. */
  failed(family: string, error: unknown): void;
}

/** How the readiness thread is started (admin/readiness-thread/). */
export interface ReadinessThreadOptions {
  readonly socketPath: string;
  readonly vitals: SharedArrayBuffer;
  readonly compileCache: string | null;
  readonly startThread: <T>(start: () => T) => T;
}

/** What the Admin API shows of a plugin. */
export interface ListedPlugin {
  readonly version: string;
  readonly priority: number;
  /** Null, or absent: not declared. */
  readonly capabilities?: readonly string[] | null;
}

/** What the Admin API needs in addition to its dependencies. */
export interface AdminOptions {
  readonly entities: EntityRegistry;
  readonly catalog: PluginCatalog;
  /** The loaded plugins by name, with the fields of `GET /`. */
  readonly plugins: ReadonlyMap<string, ListedPlugin>;
  readonly log: AdminLog;
  readonly logLevel: TemporaryLogLevel;
  /** Changes the level on all other nodes; `timeout` in seconds. Rejects while the store is unavailable. */
  readonly broadcastLogLevel: (level: LogLevel, timeout: number) => Promise<void>;
  /** Paths that plugins add, by plugin. */
  readonly pluginAdminRoutes: ReadonlyMap<string, PluginAdminRoutes['adminRoutes']>;
  /** Passes a message on to a plugin's background part. */
  readonly pluginBackground: (plugin: string, message: unknown) => Promise<unknown>;
  /** Sends a message to the background parts of a plugin on all other nodes. */
  readonly pluginBroadcast: (plugin: string, message: unknown) => Promise<boolean>;
  /** A route of a plugin threw. */
  readonly pluginFailed: (plugin: string, error: unknown) => void;
  /** Memory of a zone that a plugin instance declared. */
  readonly pluginZone: (instanceId: string, name: string) => SharedArrayBuffer | null;
  /** Absent: the control plane serves the status API itself. */
  readonly readinessThread?: ReadinessThreadOptions;
  /** Descriptors of sockets that listen already. */
  readonly inherited: InheritedDescriptors;
}

/** Where a listener listens, and how to end it. */
export interface RunningListener {
  readonly addresses: readonly { readonly ip: string; readonly port: number; readonly ssl: boolean }[];
  /** What it listens on, for a process that takes over. */
  readonly sockets: readonly ListeningSocket[];
  /** Graceful: requests in flight are answered first. */
  close(graceful: boolean): Promise<void>;
  /** Another process accepts on the same sockets: accepts no more, answers what is in flight and ends. */
  handOver(): Promise<void>;
  /** From now on uses the certificates of these settings, PEM texts. Whether clients must show one does not change. */
  setTls(settings: Settings): void;
}
