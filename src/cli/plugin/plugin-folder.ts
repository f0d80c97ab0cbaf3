import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { CliError } from '../cli-error.ts';

/** What a `package.json` of a plugin says, as far as commands use it; anything may be missing or have another type. */
export interface PluginManifest {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly type?: unknown;
  readonly private?: unknown;
  readonly exports?: unknown;
  readonly files?: unknown;
  readonly dependencies?: unknown;
  readonly peerDependencies?: unknown;
}

/** Where a plugin is. */
export interface PluginFolder {
  /** The folder, absolute. */
  readonly folder: string;
  /** The module whose default export is the plugin, absolute. */
  readonly entry: string;
  /** Null: there is no `package.json`. */
  readonly manifest: PluginManifest | null;
}

const entries = ['index.ts', 'src/index.ts', 'index.js', 'index.mjs'];

/**
 * Finds the plugin of a folder, or of the folder of a file.
 *
 * @param target What the command was given; undefined: the current folder.
 * @throws CliError There is none.
 */
export function findPlugin(cwd: string, target: string | undefined): PluginFolder {
  const path = resolve(cwd, target ?? '.');
  if (!existsSync(path)) throw new CliError(`${path} does not exist`);
  if (statSync(path).isFile()) {
    const folder = folderOf(path);
    return { folder, entry: path, manifest: readManifest(folder) };
  }
  const found = entries.find((name) => existsSync(join(path, name)));
  if (found === undefined) {
    throw new CliError(
      `${path} has no plugin: none of ${entries.join(', ')} is there (sluicegate plugin new <name> makes one)`,
    );
  }
  return { folder: path, entry: join(path, found), manifest: readManifest(path) };
}

/** A path for people: relative to where they are, unless that is longer. */
export function shown(cwd: string, path: string): string {
  const near = relative(cwd, path);
  return near === '' || near.startsWith('..') ? path : near;
}

/** The nearest folder with a `package.json`, or else the file's own. */
function folderOf(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) return dirname(file);
    folder = above;
  }
  return folder;
}

function readManifest(folder: string): PluginManifest | null {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PluginManifest;
  } catch (error) {
    throw new CliError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
