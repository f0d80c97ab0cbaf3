import { type LoadHookContext, type ResolveHookContext, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { PluginCode } from './plugin-code.ts';
import { belongs, rootOf } from './plugin-root.ts';
import { isCommonJs, recordModule } from './recorded-module.ts';
import { Recording } from './recording.ts';
import { cleanError, splitVersion, versionedUrl } from './version-url.ts';

/*
 * How a thread loads the code of users' plugins. Each version of a plugin has URLs of its own, `index.ts?version=<hash>`, so that it can
 * be loaded next to an earlier one. Nothing is registered in a thread that loads no such code.
 */

/** Versions of a plugin whose sources are kept for modules that they load later: in effect, before, and on trial. */
const maxKept = 3;

interface Known {
  readonly code: PluginCode;
  readonly root: string;
}

const versions = new Map<string, Known>();
/** The code of each plugin, by its first module. */
const current = new Map<string, PluginCode>();
/** By token; null: nothing is recorded. */
let recordings: Map<string, Recording> | null = null;
let registered = false;

/** From now on this thread loads these plugins from the recorded code. */
export function useCode(codes: readonly PluginCode[]): void {
  if (codes.length > 0) register();
  for (const code of codes) {
    const { file, version } = code;
    current.set(file, code);
    versions.delete(version);
    versions.set(version, { code, root: rootOf(file) });
    const ofFile = [...versions.values()].filter((known) => known.code.file === file);
    for (const { code: old } of ofFile.slice(0, -maxKept)) versions.delete(old.version);
  }
}

/** From now on this thread loads plugins from their files, and records them. Returns the function that ends it. */
export function recordCode(): () => readonly PluginCode[] {
  register();
  const recording = new Map<string, Recording>();
  recordings = recording;
  return () => [...recording.values()].map((each) => each.code());
}

/** Imports the first module of a plugin: its recorded code where there is one, else from its file. */
export async function importPlugin(file: string): Promise<unknown> {
  const url = pathToFileURL(file).href;
  const code = current.get(file);
  try {
    if (code !== undefined) return await import(versionedUrl(url, code.version));
    if (recordings !== null) return await import(versionedUrl(url, recordingOf(file, recordings).token));
  } catch (error) {
    throw cleanError(error);
  }
  return import(url);
}

/** Imports this version. It must be in use in this thread. */
export async function importVersion({ file, version }: PluginCode): Promise<unknown> {
  try {
    return await import(versionedUrl(pathToFileURL(file).href, version));
  } catch (error) {
    throw cleanError(error);
  }
}

function recordingOf(file: string, all: Map<string, Recording>): Recording {
  for (const known of all.values()) if (known.file === file) return known;
  const recording = new Recording(file);
  all.set(recording.token, recording);
  return recording;
}

function register(): void {
  if (registered) return;
  registered = true;
  registerHooks({ resolve, load });
}

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>;
type Load = NonNullable<Parameters<typeof registerHooks>[0]['load']>;

function resolve(...[specifier, context, next]: Parameters<Resolve>): ReturnType<Resolve> {
  const parent = splitVersion(context.parentURL);
  if (parent === null) return next(specifier, context);
  const { url: parentURL, version } = parent;
  const known = versions.get(version);
  if (known !== undefined && specifier.startsWith('.')) {
    const url = new URL(specifier, parentURL).href;
    const module = known.code.modules.get(url);
    if (module !== undefined && !module.fixed)
      return { url: versionedUrl(url, version), format: module.format, shortCircuit: true };
  }
  const found = next(specifier, { ...context, parentURL } satisfies ResolveHookContext);
  const root = known?.root ?? recordings?.get(version)?.root;
  const ours = root !== undefined && belongs(found.url, root, specifier);
  return ours && !isCommonJs(found.format) ? { ...found, url: versionedUrl(found.url, version) } : found;
}

function load(...[url, context, next]: Parameters<Load>): ReturnType<Load> {
  const versioned = splitVersion(url);
  if (versioned === null) return loadFixed(url, context, next);
  const module = versions.get(versioned.version)?.code.modules.get(versioned.url);
  if (module !== undefined && !module.fixed)
    return { format: module.format, source: module.source, shortCircuit: true };
  const found = next(versioned.url, context);
  const { format, source } = found;
  if (source == null) return found;
  const read = recordModule(versioned.url, format ?? '', fileOf(source));
  recordings?.get(versioned.version)?.add(versioned.url, read);
  return read.fixed ? found : { ...found, format: read.format, source: read.source };
}

/** A module without a version: of Node, of the gateway, of a package, or a CommonJS module of a plugin. */
function loadFixed(url: string, context: LoadHookContext, next: Parameters<Load>[2]): ReturnType<Load> {
  const found = next(url, context);
  if (!url.startsWith('file:')) return found;
  for (const recording of recordings?.values() ?? []) {
    if (found.source != null && belongs(url, recording.root, ''))
      recording.add(url, recordModule(url, 'commonjs', fileOf(found.source)));
  }
  // A worker that starts later has the code of the others, also where the file has changed since.
  for (const { code } of versions.values()) {
    const module = code.modules.get(url);
    if (module?.fixed === true && found.source != null) return { ...found, source: module.source };
  }
  return found;
}

function fileOf(source: NonNullable<ReturnType<Load>['source']>): string | Uint8Array {
  return typeof source === 'string' ? source : Buffer.from(source as Uint8Array);
}
