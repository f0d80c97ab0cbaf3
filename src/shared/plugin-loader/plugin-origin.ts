import { dirname } from 'node:path';
import { bundledPluginOf, isPluginFile } from './error-place.ts';

/** Paths of the modules from which plugins of users were loaded. */
const files = new WeakMap<object, string>();
/** Names of the plugins that were loaded from these modules, in this thread. */
const names = new Map<string, string>();

export function rememberOrigin(plugin: { readonly name: string }, file: string): void {
  files.set(plugin, file);
  names.set(file, plugin.name);
}

/** Null: the plugin is a bundled one. */
export function originOf(plugin: object): string | null {
  return files.get(plugin) ?? null;
}

/** Name of the plugin that a file belongs to: the one that was loaded from it, or else from the nearest folder above it. */
export function pluginOfFile(file: string): string | null {
  const exact = names.get(file) ?? bundledPluginOf(file);
  if (exact !== null) return exact;
  let found: string | null = null;
  let length = 0;
  for (const [origin, name] of names) {
    const folder = `${dirname(origin)}/`;
    if (folder.length <= length || !file.startsWith(folder)) continue;
    found = name;
    ({ length } = folder);
  }
  return found;
}

/** Whether the file belongs to a plugin, or is one of a user. Packages are of the plugin that was loaded from them, or of nobody. */
export function isPluginCode(file: string): boolean {
  return pluginOfFile(file) !== null || (isPluginFile(file) && !file.includes('/node_modules/'));
}
