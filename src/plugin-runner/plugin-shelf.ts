import type { Plugin, PluginLoader } from '../plugin-sdk/define-plugin.ts';
import { bundledPlugins } from '../plugins/registry.ts';
import { loadPlugins } from './load-plugins.ts';

/**
 * The plugins of a worker. Those that come with the gateway are loaded when the config first names them: loading all of
 * them would cost each worker 70 ms and 10 MB, for plugins that hardly anybody uses together.
 */
export class PluginShelf {
  readonly #plugins: Map<string, Plugin>;
  readonly #unread: Map<string, PluginLoader>;

  /** Loads what the setting names beside the bundled ones. Throws an `Error` of one line that names what cannot be loaded. */
  static async open(setting: readonly string[], baseDirectory: string): Promise<PluginShelf> {
    const own = setting.filter((entry) => entry !== 'bundled' && !bundledPlugins.has(entry));
    const enabled = setting.includes('bundled')
      ? bundledPlugins
      : new Map([...bundledPlugins].filter(([name]) => setting.includes(name)));
    const plugins = new Map(await loadPlugins(own, baseDirectory));
    for (const name of plugins.keys()) {
      if (enabled.has(name)) throw new Error(`plugins: two plugins have the name '${name}'`);
    }
    return new PluginShelf(plugins, new Map(enabled));
  }

  private constructor(plugins: Map<string, Plugin>, unread: Map<string, PluginLoader>) {
    this.#plugins = plugins;
    this.#unread = unread;
  }

  /** What is loaded so far; grows with `load`. */
  get plugins(): ReadonlyMap<string, Plugin> {
    return this.#plugins;
  }

  /** Loads what is not loaded yet of these names; null: nothing. Names that there are not are left out. */
  load(names: readonly string[]): Promise<void> | null {
    const wanted = [...new Set(names)].filter((name) => this.#unread.has(name));
    return wanted.length === 0 ? null : Promise.all(wanted.map((name) => this.#read(name))).then(() => {});
  }

  async #read(name: string): Promise<void> {
    const load = this.#unread.get(name);
    if (load === undefined) return;
    const plugin = (await load()).default;
    this.#plugins.set(name, plugin);
    this.#unread.delete(name);
  }
}
