import type { BackgroundStore, BackgroundTools, OpenCircuit, PluginBackground } from '../../plugin-sdk/background.ts';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { ConfiguredInstance, PluginLogger, PluginSettings } from '../../plugin-sdk/tools.ts';
import type { Row } from '../../shared/entities/entity.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { currentInstance } from '../../shared/plugin-loader/config-defaults.ts';
import { failureFields } from '../../shared/plugin-loader/failure-fields.ts';
import { rejectVaultReferences } from '../../shared/plugin-loader/reject-vault-references.ts';
import { MeterPhase, type PluginMeters } from '../../shared/zones/plugin-meter.ts';

export interface BackgroundPartsOptions {
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly store: BackgroundStore;
  readonly zone: BackgroundTools['zone'];
  readonly metrics: BackgroundTools['metrics'];
  /** Sends a message to the plugin on all other nodes. */
  readonly broadcast: (plugin: string, message: unknown) => Promise<boolean>;
  readonly count: (plugin: string, name: string, by: number) => void;
  readonly settings: PluginSettings;
  readonly nodeId: string;
  readonly log: ErrorLog;
  /** Where failures are counted. */
  readonly meters: PluginMeters;
}

/** What plugins do in the background. The part of a plugin runs while an instance of it is enabled. */
export class BackgroundParts {
  readonly #parts = new Map<string, BackgroundPart>();
  readonly #pluginOf = new Map<string, string>();
  readonly #options: BackgroundPartsOptions;

  constructor(options: BackgroundPartsOptions) {
    this.#options = options;
    for (const plugin of options.plugins.values()) {
      if (plugin.hasBackground) this.#parts.set(plugin.name, new BackgroundPart(plugin, options));
    }
  }

  /** The code of the plugin was replaced: its part is stopped, and starts with the new code. `rows`: all plugin instances. */
  replacePlugin(plugin: Plugin, rows: readonly Row[]): void {
    const { name } = plugin;
    const part = this.#parts.get(name);
    part?.replace(plugin);
    if (part !== undefined || !plugin.hasBackground) return;
    this.#parts.set(name, new BackgroundPart(plugin, this.#options));
    const own = rows.filter((row) => row['name'] === name);
    this.configChanged({ version: 0, full: false, upserts: { plugins: own }, removes: {} });
  }

  configChanged({ full, upserts, removes }: SnapshotDelta): void {
    if (this.#parts.size === 0) return;
    const changed = new Set<BackgroundPart>();
    const remove = (id: string): void => {
      const part = this.#parts.get(this.#pluginOf.get(id) ?? '');
      this.#pluginOf.delete(id);
      if (part?.remove(id) === true) changed.add(part);
    };
    const rows = upserts.plugins ?? [];
    if (full) {
      const present = new Set(rows.map((row) => row.id));
      for (const id of [...this.#pluginOf.keys()]) if (!present.has(id)) remove(id);
    }
    for (const id of removes.plugins ?? []) remove(id);
    for (const row of rows) {
      const name = String(row['name']);
      const part = this.#parts.get(name);
      if (part === undefined) continue;
      if (row['enabled'] === false) remove(row.id);
      else {
        this.#pluginOf.set(row.id, name);
        if (part.upsert(row)) changed.add(part);
      }
    }
    for (const part of changed) part.settle();
  }

  /** Passes a message on to the plugin's part; null when it does not run. */
  async handle(plugin: string, message: unknown): Promise<unknown> {
    return (await this.#parts.get(plugin)?.handle(message)) ?? null;
  }

  /** Passes on a message of the plugin's part on another node. */
  received(plugin: string, message: unknown): void {
    this.#parts.get(plugin)?.notify((part) => part.received?.(message));
  }

  /** Messages of other nodes may be lost. */
  missed(): void {
    for (const part of this.#parts.values()) part.notify((running) => running.missed?.());
  }

  /** Circuits of all plugins that are not closed. */
  circuits(): readonly (OpenCircuit & { readonly plugin: string })[] {
    return [...this.#parts].flatMap(([plugin, part]) => part.circuits().map((circuit) => ({ plugin, ...circuit })));
  }

  /** The node begins to stop: running work is aborted, and no further part starts. `stop` follows when no request is left. */
  abort(): void {
    for (const part of this.#parts.values()) part.abort();
  }

  async stop(): Promise<void> {
    this.abort();
    await Promise.all([...this.#parts.values()].map((part) => part.stop()));
  }
}

class BackgroundPart {
  #plugin: Plugin;
  readonly #options: BackgroundPartsOptions;
  readonly #log: PluginLogger;
  readonly #instances = new Map<string, ConfiguredInstance>();
  /** Starts and stops run one after the other. */
  #queue: Promise<void> = Promise.resolve();
  #running: { readonly part: PluginBackground; readonly ending: AbortController } | null = null;
  #aborted = false;
  #stopped = false;

  constructor(plugin: Plugin, options: BackgroundPartsOptions) {
    this.#plugin = plugin;
    this.#options = options;
    this.#log = options.log.child({ plugin: plugin.name });
  }

  replace(plugin: Plugin): void {
    this.#queue = this.#queue
      .then(async () => {
        await this.#end();
        this.#plugin = plugin;
        await this.#settle();
      })
      .catch((error) => this.#log.error('plugin failed', { err: error }));
  }

  /** True when it changed the instances. */
  upsert(row: Row): boolean {
    const config = row['config'] ?? {};
    try {
      rejectVaultReferences(config);
    } catch {
      // The workers report it.
      return this.#instances.delete(row.id);
    }
    this.#instances.set(row.id, { id: row.id, config });
    return true;
  }

  remove(id: string): boolean {
    return this.#instances.delete(id);
  }

  settle(): void {
    this.#queue = this.#queue.then(() => this.#settle()).catch((error) => this.#failed(error));
  }

  /** In the order of the calls, and after what was configured before. */
  notify(call: (part: PluginBackground) => void | Promise<void>): void {
    this.#queue = this.#queue
      .then(() => (this.#running === null ? undefined : call(this.#running.part)))
      .catch((error) => this.#failed(error));
  }

  async handle(message: unknown): Promise<unknown> {
    await this.#queue;
    return this.#running?.part.handle(message);
  }

  circuits(): readonly OpenCircuit[] {
    try {
      return this.#running?.part.circuits?.() ?? [];
    } catch (error) {
      this.#failed(error);
      return [];
    }
  }

  abort(): void {
    this.#aborted = true;
    this.#running?.ending.abort();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.settle();
    await this.#queue;
  }

  #failed(error: unknown): void {
    this.#options.meters.of(this.#plugin.name).failed(MeterPhase.background);
    this.#log.error('plugin failed', { phase: 'background', ...failureFields(error) });
  }

  async #settle(): Promise<void> {
    if (this.#stopped || this.#instances.size === 0) {
      await this.#end();
      return;
    }
    if (this.#aborted) return;
    this.#running ??= await this.#start();
    // The node may have begun to stop meanwhile.
    if (this.#aborted) this.#running?.ending.abort();
    this.#running?.part.configured([...this.#instances.values()].map((one) => currentInstance(this.#plugin, one)));
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    running?.ending.abort();
    await running?.part.stop();
  }

  async #start() {
    const background = await this.#plugin.loadBackground();
    if (background === null) return null;
    const { settings, nodeId, store, zone, metrics, broadcast: send } = this.#options;
    const ending = new AbortController();
    const count = (name: string, by = 1): void => this.#options.count(this.#plugin.name, name, by);
    const broadcast = (message: unknown): Promise<boolean> => send(this.#plugin.name, message);
    const tools = { log: this.#log, settings, nodeId, store, zone, metrics, count, broadcast, signal: ending.signal };
    return { part: background(tools), ending };
  }
}
