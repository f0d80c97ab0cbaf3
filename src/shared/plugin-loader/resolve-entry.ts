import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundledDefinitions } from '../../plugins/definitions.ts';
import { suggest } from '../util/suggest.ts';

/** Modules of a folder that may be a plugin, the first that exists. */
const folderModules = ['index.ts', 'index.mts', 'index.js', 'index.mjs', 'src/index.ts'];

/** Conditions of `exports` that hold for plugins: they are imported by Node. */
const conditions: ReadonlySet<string> = new Set(['node', 'import', 'module-sync', 'default']);

export function isPath(entry: string): boolean {
  return entry.startsWith('.') || isAbsolute(entry);
}

/**
 * The file that an entry of the setting `plugins` means.
 *
 * @param base Absolute: where relative paths start, and where packages are searched from.
 * @throws Error that says in one line why there is none.
 */
export function resolveEntry(entry: string, base: string): string {
  return isPath(entry) ? fileAt(resolve(base, entry)) : fileOfPackage(entry, base);
}

function fileAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    const near = ['.ts', '.mts', '.js', '.mjs'].find((ending) => existsSync(path + ending));
    throw new Error(`there is no file or folder ${path}${near === undefined ? '' : ` (did you mean ${path}${near}?)`}`);
  }
  return found.isDirectory() ? fileOfFolder(path) : path;
}

function fileOfFolder(folder: string): string {
  const named = fileOfManifest(join(folder, 'package.json'), '.');
  if (named !== null && isFile(named)) return named;
  const file = folderModules.map((name) => join(folder, name)).find(isFile);
  if (file !== undefined) return file;
  const missing = named === null ? '' : `, and ${named} of its package.json does not exist`;
  throw new Error(`the folder ${folder} has none of ${folderModules.join(', ')}${missing}`);
}

/** `@acme/policies/limit` is the export `./limit` of the package `@acme/policies`. */
function fileOfPackage(entry: string, base: string): string {
  const from = join(base, 'plugins.js');
  const [, name = entry, inside = ''] = /^(@[^/]+\/[^/]+|[^/]+)(?:\/(.+))?$/.exec(entry) ?? [];
  const manifest = manifestOf(name, from);
  if (manifest === null) throw new Error(notInstalled(name, base));
  const named = fileOfManifest(manifest, inside === '' ? '.' : `./${inside}`);
  if (named !== null && isFile(named)) return named;
  if (inside === '') return fileOfFolder(dirname(manifest));
  try {
    return createRequire(from).resolve(entry);
  } catch (error) {
    throw new Error(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

function notInstalled(name: string, base: string): string {
  const guess = suggest(name, ['bundled', ...bundledDefinitions.keys()]);
  if (guess !== null) return `no plugin and no package has this name (did you mean '${guess}'?)`;
  return `the package is not installed; install it in ${base}: npm install ${name}`;
}

function manifestOf(name: string, from: string): string | null {
  try {
    return findPackageJSON(name, pathToFileURL(from)) ?? null;
  } catch {
    return null;
  }
}

/** What `exports`, or else `main`, of a `package.json` names; null: nothing, or there is no such file. */
function fileOfManifest(file: string, subpath: string): string | null {
  if (!isFile(file)) return null;
  let manifest: { readonly exports?: unknown; readonly main?: unknown };
  try {
    manifest = Object(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { exports: exported, main } = manifest;
  const target = exported === undefined ? (subpath === '.' ? main : undefined) : exportOf(exported, subpath);
  return typeof target === 'string' && target !== '' ? resolve(dirname(file), target) : null;
}

function exportOf(exported: unknown, subpath: string): unknown {
  const entries = typeof exported === 'object' && exported !== null ? Object.entries(exported) : [];
  const bySubpath = entries.some(([key]) => key.startsWith('.'));
  if (!bySubpath) return subpath === '.' ? targetOf(exported, 0) : undefined;
  return targetOf(entries.find(([key]) => key === subpath)?.[1], 0);
}

/** The first condition that holds, as Node chooses it. */
function targetOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > 8) return value;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && !conditions.has(key)) continue;
    const target = targetOf(inner, depth + 1);
    if (typeof target === 'string') return target;
  }
  return undefined;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
