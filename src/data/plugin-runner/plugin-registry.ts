import { isPlugin, type Plugin, type PluginLoader, type PluginModule } from '../../plugin-sdk/define-plugin.ts';
import { bundledPlugins } from '../../plugins/registry.ts';
import type { PluginCode } from '../../shared/plugin-loader/code/plugin-code.ts';
import { rememberDefaults } from '../../shared/plugin-loader/config-defaults.ts';
import { addPlugins, loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';
import { originOf } from '../../shared/plugin-loader/plugin-origin.ts';

/**
 * The plugins of a worker. Bundled plugins are loaded when the config first names them: loading all of them would cost
 * each worker 70 ms and 10 MB, and few configs use more than a handful.
 */
export class PluginRegistry {
  readonly #plugins: Map<string, Plugin>;
  readonly #unloaded: Map<string, PluginLoader>;

  /**
   * Loads the plugins that the setting names in addition to the bundled ones. Throws an `Error` of one line that names
   * what cannot be loaded. `codes`: recorded code of plugins, which is loaded instead of their files. `more`: plugins of an
   * application.
   */
  static async open(
    setting: readonly string[],
    baseDirectory: string,
    codes: readonly PluginCode[] = [],
    more: readonly Plugin[] = [],
  ): Promise<PluginRegistry> {
    if (codes.length > 0) (await import('../../shared/plugin-loader/code/code-hooks.ts')).useCode(codes);
    const own = setting.filter((entry) => entry !== 'bundled' && !bundledPlugins.has(entry));
    const enabled = setting.includes('bundled')
      ? bundledPlugins
      : new Map([...bundledPlugins].filter(([name]) => setting.includes(name)));
    const plugins = new Map(addPlugins(await loadPlugins(own, baseDirectory), more));
    for (const code of codes) {
      const plugin = [...plugins.values()].find((one) => originOf(one) === code.file);
      if (plugin !== undefined) rememberDefaults(plugin, code.defaults);
    }
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

  /** Loads this code of plugins next to what is in use. Rejects when it cannot be loaded. */
  async loadCode(codes: readonly PluginCode[]): Promise<readonly Plugin[]> {
    const { importVersion, useCode } = await import('../../shared/plugin-loader/code/code-hooks.ts');
    useCode(codes);
    return Promise.all(
      codes.map(async (code) => {
        const { default: plugin } = (await importVersion(code)) as Partial<PluginModule>;
        if (!isPlugin(plugin)) throw new Error(`the default export of ${code.file} is not created by definePlugin`);
        rememberDefaults(plugin, code.defaults);
        return plugin;
      }),
    );
  }

  /** Replaces plugins by others of the same names. Returns the function that undoes it. */
  replace(plugins: readonly Plugin[]): () => void {
    const before = plugins.map(({ name }) => [name, this.#plugins.get(name)] as const);
    for (const plugin of plugins) this.#plugins.set(plugin.name, plugin);
    return () => {
      for (const [name, plugin] of before) {
        if (plugin === undefined) this.#plugins.delete(name);
        else this.#plugins.set(name, plugin);
      }
    };
  }

  async #loadOne(name: string): Promise<void> {
    const load = this.#unloaded.get(name);
    if (load === undefined) return;
    const plugin = (await load()).default;
    this.#plugins.set(name, plugin);
    this.#unloaded.delete(name);
  }
}
