import type { PluginLogger, PluginSettings } from './define-plugin.ts';
import type { EntityRow } from './entity-access.ts';
import type { MetricFamily } from './metrics.ts';

/** A configured instance of the plugin that is enabled. `config` is validated and has its defaults. */
export interface BackgroundInstance<C = unknown> {
  readonly id: string;
  readonly config: C;
}

/** Reads of the store. Rejects with an `EntityAccessError` when it does not answer. */
export interface BackgroundReader {
  /** By `id` or the value of a unique field; null when there is none or its `ttl` is over. */
  find(entity: string, field: string, value: string): Promise<EntityRow | null>;
  /** All whose foreign or looked-up field has this value, oldest first; 1,000 at most. */
  list(entity: string, field: string, value: string): Promise<readonly EntityRow[]>;
  /** Every row, oldest first; 10,000 at most. */
  all(entity: string): Promise<readonly EntityRow[]>;
}

/** Writes within a transaction, validated as the Admin API does; `conflict`: a unique value is taken. */
export interface BackgroundWriter extends BackgroundReader {
  /** `ttl` (seconds) may be among the fields where the entity has one. */
  insert(entity: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow>;
  /** Changes some fields; null when there is no such row. */
  update(entity: string, id: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow | null>;
  /** False when there was nothing to delete. */
  delete(entity: string, id: string): Promise<boolean>;
}

/** The gateway's own store: the same for all nodes that share a database. */
export interface BackgroundStore extends BackgroundReader {
  /**
   * One transaction, rolled back when `work` rejects. Writers of all nodes wait for each other, so what is read in it holds
   * until it is written; `work` must wait for nothing but the writer. Resolves when all workers of this node know.
   */
  write<T>(work: (writer: BackgroundWriter) => Promise<T>): Promise<T>;
  /** Milliseconds after a write by which other nodes know, too; 0: no other node can share this store. */
  readonly spread: number;
}

export interface BackgroundTools {
  /** Writes to the error log; every line carries the plugin's name. */
  readonly log: PluginLogger;
  readonly settings: PluginSettings;
  /** Id of this node. */
  readonly nodeId: string;
  readonly store: BackgroundStore;
  /** Memory of a zone that this instance declared; null when there is none. */
  zone(instanceId: string, name: string): SharedArrayBuffer | null;
  /** Adds to a counter of the plugin, as `tools.count` of `setup` does. */
  count(name: string, by?: number): void;
  /** All numbers of the node, of its core and of all plugins: those of `GET /metrics`. */
  metrics(): Promise<readonly MetricFamily[]>;
  /** Aborted when the part is stopped: whatever it waits for is to be given up. */
  readonly signal: AbortSignal;
}

/**
 * What a plugin does beside the traffic: once in each node, on the control plane, as long as an instance of the plugin is
 * enabled. Every node has one; what must be done once is agreed on through the store.
 */
export interface PluginBackground {
  /** First, and whenever an instance was made, changed or removed. Must not throw. */
  configured(instances: readonly BackgroundInstance[]): void;
  /** A message of the plugin's own: from a worker (`tools.background`) or its Admin API. Must not keep workers waiting. */
  handle(message: unknown): Promise<unknown>;
  /** The last instance is gone, or the node ends and no request is left; the signal is aborted already. */
  stop(): void | Promise<void>;
}

/** What the module behind `background` exports. */
export interface PluginBackgroundModule {
  readonly background: (tools: BackgroundTools) => PluginBackground;
}
