import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { MetricFamily, PluginMetricsModule, PluginMetricsTools } from '../../plugin-sdk/metrics.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { currentInstance } from '../../shared/plugin-loader/config-defaults.ts';
import { failureMessage } from '../../shared/plugin-loader/failure-fields.ts';
import { throttledLog } from '../../shared/util/time/throttled-log.ts';
import type { CoreFacts } from './core-facts.ts';
import { counter, familyProblem } from './families.ts';
import { hybridFamilies } from './hybrid-families.ts';
import { kongFamilies } from './kong-families.ts';
import { nodeFamilies } from './node-families.ts';
import { PluginInstances } from './plugin-instances.ts';
import { withTimeout } from './with-timeout.ts';

export interface MetricsRegistryOptions {
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly zone: PluginMetricsTools['zone'];
  readonly upstreams: PluginMetricsTools['upstreams'];
  /** Sends a message to the background part of a plugin. */
  readonly background: (plugin: string, message: unknown) => Promise<unknown>;
  readonly log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void };
}

/** Timeout in milliseconds for the metrics of each plugin. */
const pluginTimeout = 3000;
/** Milliseconds between two lines in the error log about metrics that cannot be collected. */
const quiet = 60_000;

/** All metrics of the node: its own and those of the plugins that have an instance. */
export class MetricsRegistry {
  readonly #options: MetricsRegistryOptions;
  readonly #instances = new PluginInstances();
  readonly #modules = new Map<string, Promise<PluginMetricsModule['metrics'] | null>>();
  readonly #report: (text: string) => void;
  #core: CoreFacts | null = null;
  #errors = 0;

  constructor(options: MetricsRegistryOptions) {
    this.#options = options;
    this.#report = throttledLog(quiet, (error, suppressed) =>
      options.log.warn('metrics are missing', { error, ...(suppressed === 0 ? {} : { suppressed }) }),
    );
  }

  /** Adds the node's own metrics. */
  addCore(facts: CoreFacts): void {
    this.#core = facts;
  }

  configChanged(delta: SnapshotDelta): void {
    this.#instances.configChanged(delta);
  }

  /** The code of the plugin was replaced. */
  pluginReplaced(plugin: string): void {
    this.#modules.delete(plugin);
  }

  /** An instance of the plugin is enabled. */
  isInUse(plugin: string): boolean {
    return this.#instances.has(plugin);
  }

  /** Every family once. Metrics that cannot be collected are omitted and logged. */
  async collect(): Promise<readonly MetricFamily[]> {
    const parts = await Promise.all([
      this.#part('the node', () => this.#coreFamilies()),
      ...this.#instances.plugins().map((name) => this.#part(name, () => this.#pluginFamilies(name))),
    ]);
    const families = new Map<string, MetricFamily>();
    for (const family of parts.flat()) {
      const problem = problemOf(family, families);
      if (problem === null) families.set(family.name, family);
      else this.failed(problem.name, problem.text);
    }
    const errors = this.#errors;
    const own = counter('sluicegate_metric_errors_total', 'Metrics that could not be collected', [], [[errors]]);
    return [...families.values(), own];
  }

  /** Series of a family could not be read. */
  failed(family: string, error: unknown): void {
    this.#errors++;
    this.#report(`${family}: ${failureMessage(error)}`);
  }

  async #part(name: string, collect: () => Promise<readonly MetricFamily[]>): Promise<readonly MetricFamily[]> {
    try {
      return await withTimeout(collect(), pluginTimeout, () => {
        throw new Error('timeout');
      });
    } catch (error) {
      this.failed(name, error);
      return [];
    }
  }

  async #coreFamilies(): Promise<readonly MetricFamily[]> {
    if (this.#core === null) return [];
    const core = this.#core;
    return (await Promise.all([kongFamilies(core), nodeFamilies(core), hybridFamilies(core)])).flat();
  }

  async #pluginFamilies(name: string): Promise<readonly MetricFamily[]> {
    const metrics = await this.#module(name);
    if (metrics === null) return [];
    const { zone, upstreams, background, plugins } = this.#options;
    const plugin = plugins.get(name);
    return metrics({
      instances: () =>
        this.#instances.of(name).map((one) => (plugin === undefined ? one : currentInstance(plugin, one))),
      background: (message) => background(name, message),
      zone,
      upstreams,
    });
  }

  #module(name: string): Promise<PluginMetricsModule['metrics'] | null> {
    let module = this.#modules.get(name);
    if (module === undefined) {
      module = this.#options.plugins.get(name)?.loadMetrics() ?? Promise.resolve(null);
      this.#modules.set(name, module);
      // The next collection loads it again.
      module.catch(() => this.#modules.delete(name));
    }
    return module;
  }
}

/** A plugin may return anything, also what cannot be read. */
function problemOf(
  family: MetricFamily,
  known: ReadonlyMap<string, unknown>,
): { readonly name: string; readonly text: string } | null {
  try {
    const { name } = family;
    const text = known.has(name) ? `${name} is defined twice` : familyProblem(family);
    return text === null ? null : { name, text };
  } catch (error) {
    return { name: 'a family', text: failureMessage(error) };
  }
}
