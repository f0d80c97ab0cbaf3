import type { CircuitState } from './circuits.ts';
import type { EntityRow } from './entity-access.ts';
import type { MetricFamily } from './metrics.ts';
import type { ConfiguredInstance, PluginLogger, PluginSettings } from './tools.ts';

/** Reads rows of the store. Every function rejects with an `EntityAccessError` while the store is unavailable. */
export interface BackgroundReader {
  /** The row with this `id` or this value of a unique field; null: there is no such row, or its `ttl` is over. */
  find(entity: string, field: string, value: string): Promise<EntityRow | null>;
  /** The rows whose foreign or looked-up field has this value, oldest first; at most 1,000. */
  list(entity: string, field: string, value: string): Promise<readonly EntityRow[]>;
  /** All rows, oldest first; at most 10,000. */
  all(entity: string): Promise<readonly EntityRow[]>;
}

/**
 * Writes rows within a transaction, validated as the Admin API does. Every function rejects with an `EntityAccessError`:
 * `invalid` for fields that are not valid, `conflict` for a unique value that is taken, `unavailable` for the store.
 */
export interface BackgroundWriter extends BackgroundReader {
  /** `fields` may include `ttl` (seconds) where the entity has it. */
  insert(entity: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow>;
  /** Changes some fields; null: there is no such row. */
  update(entity: string, id: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow | null>;
  /** False: there was no such row. */
  delete(entity: string, id: string): Promise<boolean>;
}

/** The store of the gateway. All nodes that share a database share it. */
export interface BackgroundStore extends BackgroundReader {
  /**
   * Runs `work` in one transaction, which is rolled back when `work` rejects. Writers of all nodes run one after the other, so
   * what `work` reads stays true until it writes. `work` must not await anything but the writer. Resolves once all workers of
   * this node have the change.
   */
  write<T>(work: (writer: BackgroundWriter) => Promise<T>): Promise<T>;
  /** Milliseconds after a write within which other nodes have it, too; 0: no other node can share this store. */
  readonly spread: number;
}

/** What the gateway passes to `background`. */
export interface BackgroundTools {
  /** Writes to the error log; each line carries the plugin's name. */
  readonly log: PluginLogger;
  readonly settings: PluginSettings;
  /** UUID of this node. */
  readonly nodeId: string;
  readonly store: BackgroundStore;
  /** The memory of a zone that the instance declares; null: it declares no such zone. */
  zone(instanceId: string, name: string): SharedArrayBuffer | null;
  /** Adds to a counter of the plugin, as `PluginTools.count` does. `by`: default 1. */
  count(name: string, by?: number): void;
  /**
   * Sends a message (JSON, at most 16,384 characters) to this part on all other nodes that share the store: `received` there gets it
   * once, within 300 ms, also if the node is disconnected meanwhile. Resolves when the message is stored, to false if no other
   * node can share this store. Rejects with an `EntityAccessError`.
   */
  broadcast(message: unknown): Promise<boolean>;
  /** All metric families of the node and its plugins: those of `GET /metrics`. */
  metrics(): Promise<readonly MetricFamily[]>;
  /** Aborted when the part stops. Give up whatever it awaits. */
  readonly signal: AbortSignal;
}

/** A circuit that is not closed. */
export interface OpenCircuit {
  /** What it protects, for people: the name of a service, an address. */
  readonly key: string;
  readonly state: Exclude<CircuitState, 'closed'>;
  /** Id of the plugin instance. */
  readonly instance?: string;
  /** When it changed to this state, milliseconds since the epoch. */
  readonly since?: number;
  /** Id of the service that it protects. */
  readonly service?: string;
  /** `slot` of the address that it protects (`AddressView`). */
  readonly slot?: number;
}

/**
 * What a plugin does outside of requests: jobs, calls to other servers, writes to the store. It runs on the control plane,
 * once in each node, while an instance of the plugin is enabled. With several nodes each has one: use the store to agree on
 * what must happen only once.
 */
export interface PluginBackground {
  /** Called at the start and whenever an instance was added, changed or removed. Must not throw. */
  configured(instances: readonly ConfiguredInstance[]): void;
  /** Answers a message from a worker or from `adminRoutes` (`tools.background`). Must not keep workers waiting. */
  handle(message: unknown): Promise<unknown>;
  /**
   * A message that `broadcast` of this plugin sent on another node, once for each message, in the order in which they were sent.
   * Default: messages are ignored.
   */
  received?(message: unknown): void | Promise<void>;
  /**
   * Messages may be lost: the node was without the store for longer than messages are kept (an hour), or the store was restored.
   * Forget whatever a message could have been about. Default: nothing.
   */
  missed?(): void | Promise<void>;
  /** Circuits of the plugin on this node that are not closed, for `GET /nodes`; the first 100 are shown. Default: none. */
  circuits?(): readonly OpenCircuit[];
  /** Called after the last instance was removed, or when the node ends and no request is left. The signal is aborted. */
  stop(): void | Promise<void>;
}

/**
 * What `background.ts` of a plugin exports.
 *
 * @example
 * export function background({ store, signal, log }: BackgroundTools): PluginBackground {
 *   const timer = setInterval(() => void sweep(store, signal).catch((error) => log.error('sweep failed', { error })), 60_000);
 *   return {
 *     configured: () => undefined,
 *     handle: async (message) => (message === 'count' ? (await store.all('greetings')).length : null),
 *     stop: () => clearInterval(timer),
 *   };
 * }
 */
export interface PluginBackgroundModule {
  readonly background: (tools: BackgroundTools) => PluginBackground;
}
