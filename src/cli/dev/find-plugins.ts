import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { CliError } from '../cli-error.ts';

/** A plugin that is developed. */
export interface DevelopedPlugin {
  /** What the setting `plugins` names. */
  readonly entry: string;
  /** Its folder, absolute: what is watched. Null: an installed package or a bundled plugin. */
  readonly folder: string | null;
  /** What the terminal calls it while its code cannot be loaded. */
  readonly label: string;
}

/** First modules of a plugin's folder: sources come before what is compiled from them. */
const firstModules = ['index.ts', 'src/index.ts', 'index.mts', 'index.js', 'index.mjs', 'src/index.js'];

/** The plugins that the arguments name: files, folders or npm packages. Throws a `CliError` when a path leads to none. */
export function namedPlugins(names: readonly string[], cwd: string): readonly DevelopedPlugin[] {
  return names.map((name) => {
    const path = resolve(cwd, name);
    const isPath = name.startsWith('.') || isAbsolute(name) || existsSync(path);
    return isPath ? pluginAt(path, cwd) : { entry: name, folder: null, label: name };
  });
}

/** The plugin in this folder; null: there is none. */
export function pluginIn(folder: string, cwd: string): DevelopedPlugin | null {
  const file = firstModule(folder);
  return file === null ? null : pluginOf(file, folder, cwd);
}

function pluginAt(path: string, cwd: string): DevelopedPlugin {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CliError(`there is no ${shown(path, cwd)}`);
  if (!found.isDirectory()) return pluginOf(path, dirname(path), cwd);
  const plugin = pluginIn(path, cwd);
  if (plugin !== null) return plugin;
  throw new CliError(`${shown(path, cwd)} has no plugin: neither index.ts nor a package.json that names a module`);
}

function pluginOf(file: string, folder: string, cwd: string): DevelopedPlugin {
  const entry = shown(file, cwd);
  if (/[\s,]/.test(entry))
    throw new CliError(`the path '${entry}' has a space or a comma: start in the plugin's folder`);
  return { entry, folder, label: basename(folder) };
}

/** Relative where that is shorter: a path with a space in a folder above still works. */
function shown(path: string, cwd: string): string {
  const name = relative(cwd, path);
  return name.startsWith('..') || isAbsolute(name) ? path : `./${name}`;
}

function firstModule(folder: string): string | null {
  const source = firstModules.map((name) => join(folder, name)).find(isFile);
  if (source !== undefined) return source;
  const named = packageModule(folder);
  return named !== null && isFile(named) ? named : null;
}

function packageModule(folder: string): string | null {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { exports, main } = manifest as { readonly exports?: unknown; readonly main?: unknown };
    const name = exportedFile(exports) ?? (typeof main === 'string' ? main : null);
    return name === null ? null : resolve(folder, name);
  } catch {
    return null;
  }
}

/** `"exports": "./a.js"`, `{ ".": "./a.js" }`, `{ ".": { "default": "./a.js" } }`. */
function exportedFile(exports: unknown, depth = 0): string | null {
  if (typeof exports === 'string') return exports;
  if (typeof exports !== 'object' || exports === null || depth > 3) return null;
  const { '.': root, import: esm, default: other } = exports as Readonly<Record<string, unknown>>;
  return exportedFile(root ?? esm ?? other, depth + 1);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
