import type { Plugin, PluginLoader } from '../../plugin-sdk/define-plugin.ts';
import { bundledPlugins } from '../../plugins/registry.ts';
import { loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';

/**
 * The plugins of a worker. Bundled plugins are loaded when the config first names them: loading all of them would cost
 * each worker 70 ms and 10 MB, and few configs use more than a handful.
 */
export class PluginRegistry {
  readonly #plugins: Map<string, Plugin>;
  readonly #unloaded: Map<string, PluginLoader>;

  /**
   * Loads the plugins that the setting names in addition to the bundled ones. Throws an `Error` of one line that names
   * what cannot be loaded.
   */
  static async open(setting: readonly string[], baseDirectory: string): Promise<PluginRegistry> {
    const own = setting.filter((entry) => entry !== 'bundled' && !bundledPlugins.has(entry));
    const enabled = setting.includes('bundled')
      ? bundledPlugins
      : new Map([...bundledPlugins].filter(([name]) => setting.includes(name)));
    const plugins = new Map(await loadPlugins(own, baseDirectory));
    for (const name of plugins.keys()) {
      if (enabled.has(name)) throw new Error(`plugins: two plugins have the name '${name}'`);
    }
    return new PluginRegistry(plugins, new Map(enabled));
  }

  private constructor(plugins: Map<string, Plugin>, unloaded: Map<string, PluginLoader>) {
    this.#plugins = plugins;
    this.#unloaded = unloaded;
  }

  /** The plugins loaded so far; grows with `load`. */
  get plugins(): ReadonlyMap<string, Plugin> {
    return this.#plugins;
  }

  /** Loads those of these names that are not loaded yet; null: all are loaded. Unknown names are ignored. */
  load(names: readonly string[]): Promise<void> | null {
    const wanted = [...new Set(names)].filter((name) => this.#unloaded.has(name));
    return wanted.length === 0 ? null : Promise.all(wanted.map((name) => this.#loadOne(name))).then(() => {});
  }

  async #loadOne(name: string): Promise<void> {
    const load = this.#unloaded.get(name);
    if (load === undefined) return;
    const plugin = (await load()).default;
    this.#plugins.set(name, plugin);
    this.#unloaded.delete(name);
  }
}
