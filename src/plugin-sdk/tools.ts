import type { EntityAccess } from './entity-access.ts';
import type { LimitTools } from './limits.ts';

/**
 * Writes to the error log of the gateway. Each line carries the plugin's name and the id of the instance. Within a phase,
 * until it first awaits, the line also carries the request id.
 *
 * @example
 * tools.log.warn('the directory rejected the bind', { host: config.host });
 */
export interface PluginLogger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The running gateway process. */
export interface PluginNode {
  /** UUID of the node, stable across restarts. */
  readonly id: string;
  readonly hostname: string;
  readonly pid: number;
  /** Number of the worker thread, from 0. */
  readonly worker: number;
}

/**
 * Where functions that are part of a configuration run (`untrusted_lua`). `off`: nowhere. `sandbox`: in a realm without the gateway,
 * Node, files and network. `on`: like any code of the gateway.
 */
export type UntrustedFunctions = 'off' | 'sandbox' | 'on';

/**
 * Settings of the node that plugins apply.
 *
 * @example
 * const redis = openRedis(redisOptions(config.redis, tools.settings)); // trusts the authorities of the node
 */
export interface PluginSettings {
  readonly untrustedFunctions: UntrustedFunctions;
  /** True: keys of credentials are stored as hashes. */
  readonly hashKeys: boolean;
  /** PEM file with the authorities to trust in other servers; null: those built into Node. */
  readonly trustedCertificates: string | null;
  readonly tracing: {
    /** Kinds of spans that traces show (`tracing_instrumentations`). */
    readonly instrumentations: ReadonlySet<string>;
    /** Fraction of the requests that are traced, 0 to 1 (`tracing_sampling_rate`). */
    readonly samplingRate: number;
  };
}

/** One configured row of the plugin, enabled. */
export interface ConfiguredInstance<C = unknown> {
  /** UUID of the row. */
  readonly id: string;
  /** Validated, with its defaults. */
  readonly config: C;
}

/**
 * What the gateway passes to `setup`. It is valid until `dispose`, also outside of phases.
 *
 * @example
 * setup(config, tools) {
 *   const store = sharedStore(tools.zone('answers'), { worker: tools.node.worker }); // once, not per request
 *   return { access: ({ request }) => (store.version(request.path) === 0 ? tools.count('unknown') : undefined) };
 * }
 */
export interface PluginTools {
  readonly log: PluginLogger;
  /** UUID of the configured row; it stays the same when the configuration changes. */
  readonly instanceId: string;
  readonly node: PluginNode;
  /** Consumers, credentials, tokens and the entities of plugins. */
  readonly entities: EntityAccess;
  /** Limiters and circuits that are exact over all workers. */
  readonly limits: LimitTools;
  /**
   * The memory of a zone that the plugin declares; all workers of the node share it.
   *
   * @throws Error for a zone that `zones` does not declare for this configuration.
   */
  zone(name: string): SharedArrayBuffer;
  /**
   * Adds to a counter of the plugin. `GET /status` shows it under `plugins`, and `GET /metrics` as
   * `sluicegate_plugin_events_total`. `rejected` and `delayed` mean that a limit was hit: `GET /overview` names the instance.
   *
   * @param name Lower-case letters and underscores: `redis_failures`. Anything else is converted to a text of at most 100 characters.
   * @param by Default: 1. What is no finite number adds nothing.
   */
  count(name: string, by?: number): void;
  /**
   * Sends a message to the plugin's background part on this node and resolves with its answer; with null while that part
   * does not run. Message and answer are copied between threads by structured clone; it rejects if that is not possible.
   */
  background(message: unknown): Promise<unknown>;
  readonly settings: PluginSettings;
}
