import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { isPlugin, type Plugin, type PluginModule } from '../../plugin-sdk/define-plugin.ts';
import { bundledDefinitions } from '../../plugins/definitions.ts';
import { suggest } from '../util/suggest.ts';
import { importPlugin } from './code/code-hooks.ts';
import { deferPlugin } from './deferred-plugin.ts';
import { rememberOrigin } from './plugin-origin.ts';
import { resolveContractImports } from './resolve-contract.ts';

/**
 * Loads the plugins that the `plugins` setting names: `bundled` (all bundled plugins), the name of one of those, the
 * path of a file or folder, or an npm package. Throws an `Error` of one line that names what cannot be loaded.
 * Bundled plugins are loaded when they are first used.
 */
export async function loadPlugins(
  setting: readonly string[],
  baseDirectory: string = process.cwd(),
): Promise<ReadonlyMap<string, Plugin>> {
  const loading = setting.filter((entry) => entry !== 'off').flatMap((entry) => loadEntry(entry, baseDirectory));
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

function loadEntry(entry: string, baseDirectory: string): readonly (Plugin | Promise<Plugin>)[] {
  if (entry === 'bundled') return [...bundledDefinitions.keys()].map(bundledPlugin);
  return [bundledDefinitions.has(entry) ? bundledPlugin(entry) : loadForeign(entry, baseDirectory)];
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

async function loadForeign(entry: string, baseDirectory: string): Promise<Plugin> {
  const { module, file } = await importFrom(entry, baseDirectory);
  if (!isPlugin(module.default))
    throw new Error(`plugins: the default export of '${entry}' is not created by definePlugin`);
  rememberOrigin(module.default, file);
  return module.default;
}

interface Imported {
  readonly module: Partial<PluginModule>;
  readonly file: string;
}

async function importFrom(entry: string, baseDirectory: string): Promise<Imported> {
  resolveContractImports();
  const isPath = entry.startsWith('.') || isAbsolute(entry);
  let file = resolve(baseDirectory, entry);
  try {
    file = createRequire(join(baseDirectory, 'plugins.js')).resolve(isPath ? file : entry);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    const guess = isPath ? null : suggest(entry, ['bundled', ...bundledDefinitions.keys()]);
    const hint = guess === null ? '' : ` (did you mean '${guess}'?)`;
    throw new Error(`plugins: '${entry}' cannot be loaded: ${reason}${hint}`, { cause: error });
  }
  try {
    return { module: (await importPlugin(file)) as Partial<PluginModule>, file };
  } catch (error) {
    const { loadProblem } = await import('./load-problem.ts');
    throw new Error(`plugins: '${entry}' cannot be loaded: ${loadProblem(error, file)}`, { cause: error });
  }
}
