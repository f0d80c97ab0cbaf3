import { realpathSync } from 'node:fs';
import { isPlugin, type Plugin, type PluginModule } from '../../plugin-sdk/define-plugin.ts';
import { bundledDefinitions } from '../../plugins/definitions.ts';
import { deferPlugin } from './deferred-plugin.ts';
import { checkPin, checkPinNames, type PluginPins } from './integrity/check-pins.ts';
import { rememberOrigin } from './plugin-origin.ts';
import { resolveContractImports } from './resolve-contract.ts';
import { resolveEntry } from './resolve-entry.ts';

export interface LoadOptions {
  /** Plugins whose files must have these hashes; checked before their code runs. Default: none. */
  readonly pins?: PluginPins;
}

const noPins: PluginPins = new Map();

/**
 * Loads the plugins that the `plugins` setting names: `bundled` (all bundled plugins), the name of one of those, the
 * path of a file or folder, or an npm package. Throws an `Error` of one line that names what cannot be loaded.
 * Bundled plugins are loaded when they are first used.
 */
export async function loadPlugins(
  setting: readonly string[],
  baseDirectory: string = process.cwd(),
  { pins = noPins }: LoadOptions = {},
): Promise<ReadonlyMap<string, Plugin>> {
  const wanted = setting.filter((entry) => entry !== 'off');
  checkPinNames(pins, wanted);
  const loading = wanted.flatMap((entry) => loadEntry(entry, baseDirectory, pins));
  const plugins = new Map<string, Plugin>();
  for (const plugin of await Promise.all(loading)) {
    const known = plugins.get(plugin.name);
    if (known !== undefined && known !== plugin) throw new Error(`plugins: two plugins have the name '${plugin.name}'`);
    plugins.set(plugin.name, plugin);
  }
  return plugins;
}

/** The plugins, with those that an application passes as objects. Throws an `Error` of one line when two have the same name. */
export function addPlugins(plugins: ReadonlyMap<string, Plugin>, more: readonly Plugin[]): ReadonlyMap<string, Plugin> {
  const all = new Map(plugins);
  for (const plugin of more) {
    if (all.has(plugin.name)) throw new Error(`plugins: two plugins have the name '${plugin.name}'`);
    all.set(plugin.name, plugin);
  }
  return all;
}

function loadEntry(entry: string, baseDirectory: string, pins: PluginPins): readonly (Plugin | Promise<Plugin>)[] {
  if (entry === 'bundled') return [...bundledDefinitions.keys()].map(bundledPlugin);
  return [bundledDefinitions.has(entry) ? bundledPlugin(entry) : loadForeign(entry, baseDirectory, pins)];
}

const bundled = new Map<string, Plugin>();

/** The same object for each call. */
function bundledPlugin(name: string): Plugin {
  const known = bundled.get(name);
  if (known !== undefined) return known;
  const definition = bundledDefinitions.get(name);
  if (definition === undefined) throw new TypeError(`'${name}' is not a bundled plugin`);
  const plugin = deferPlugin(name, definition);
  bundled.set(name, plugin);
  return plugin;
}

async function loadForeign(entry: string, baseDirectory: string, pins: PluginPins): Promise<Plugin> {
  const { module, file } = await importFrom(entry, baseDirectory, pins);
  if (!isPlugin(module.default))
    throw new Error(`plugins: the default export of '${entry}' is not created by definePlugin`);
  rememberOrigin(module.default, file);
  return module.default;
}

interface Imported {
  readonly module: Partial<PluginModule>;
  readonly file: string;
}

async function importFrom(entry: string, baseDirectory: string, pins: PluginPins): Promise<Imported> {
  resolveContractImports();
  const file = fileOf(entry, baseDirectory);
  checkPin(entry, file, baseDirectory, pins);
  const { importPlugin } = await import('./code/code-hooks.ts');
  try {
    return { module: (await importPlugin(file)) as Partial<PluginModule>, file };
  } catch (error) {
    const { loadProblem } = await import('./load-problem.ts');
    throw new Error(`plugins: '${entry}' cannot be loaded: ${loadProblem(error, file)}`, { cause: error });
  }
}

function fileOf(entry: string, baseDirectory: string): string {
  try {
    return realpathSync(resolveEntry(entry, baseDirectory));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`plugins: '${entry}' cannot be loaded: ${reason}`, { cause: error });
  }
}
