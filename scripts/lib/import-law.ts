import { posix } from 'node:path';
import { isTest } from './files.ts';
import type { Import } from './import-scan.ts';

/** The imports of each file; paths are relative to the project. */
export type ImportMap = ReadonlyMap<string, readonly Import[]>;

/** What package.json declares: the packages that may be imported, and the files that `exports` lists. */
export interface Manifest {
  readonly dependencies: ReadonlySet<string>;
  readonly exported: ReadonlySet<string>;
}

/**
 * What a folder of `src` may import in addition to itself and npm libraries, types included; the longest prefix that
 * matches counts. A folder that is not named, such as `boot`, may import any, except where `forbidden` says otherwise.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'shared/util': [],
  'shared/schema': ['shared/util'],
  'shared/entities': ['shared/schema', 'shared/util'],
  'shared/settings': ['shared/util'],
  'shared/tls': ['shared/settings', 'shared/util'],
  shared: ['plugin-sdk', 'version.ts'],
  'shared/plugin-loader': ['shared', 'plugin-sdk', 'plugins/definitions.ts'],
  'plugin-sdk': ['shared/entities', 'shared/schema', 'shared/util'],
  'plugin-kit': ['plugin-sdk', 'shared', 'version.ts'],
  // A test gateway makes rows and addresses of its config as the control plane does, so that a config means the same in both.
  'plugin-testing': [
    ...['plugin-sdk', 'plugin-kit', 'shared', 'data'],
    ...['control/declarative', 'control/publish/address-book.ts'],
  ],
  'control/dns': ['shared'],
  control: ['shared', 'plugin-sdk', 'plugin-kit', 'version.ts'],
  data: ['shared', 'plugin-sdk', 'plugin-kit', 'version.ts'],
  // Joins both planes in one thread.
  embed: ['boot', 'control/declarative', 'control/supervisor', 'data', 'plugin-sdk', 'shared'],
  'data/plugin-runner': ['data', 'shared', 'plugin-sdk', 'plugins/registry.ts'],
};

/** What a folder must never import although nothing above says so. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  boot: ['data', 'plugins', 'cli', 'plugin-testing'],
  cli: ['data', 'plugin-testing'],
};

/** Modules of Node that only tests may use, with the reason. */
const forbiddenBuiltins: Readonly<Record<string, string>> = {
  http2: 'the HTTP/2 engine of the gateway is src/shared/http2; that of Node is what tests compare it with',
};

/** Every breach of the import law, one line each. */
export function breaches(imports: ImportMap, manifest: Manifest): readonly string[] {
  return [...imports].flatMap(([file, list]) =>
    list.flatMap((entry) =>
      entry.specifier.startsWith('.')
        ? fileBreaches(file, entry, imports, manifest.exported)
        : packageBreaches(file, entry.specifier, manifest.dependencies),
    ),
  );
}

/** Path of the file that a relative import means. */
export function resolveImport(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier);
}

function packageBreaches(file: string, specifier: string, dependencies: ReadonlySet<string>): readonly string[] {
  if (!file.startsWith('src/') || isTest(file)) return [];
  const reason = forbiddenBuiltins[specifier.replace(/^node:/, '')];
  // The clients and backends of a test gateway are Node's own, which share nothing with the engines under test.
  const compares = file.startsWith('src/plugin-testing/');
  if (reason !== undefined && !compares) return [`${file} imports ${specifier}: ${reason}`];
  if (specifier.startsWith('node:')) return [];
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  return dependencies.has(name) ? [] : [`${file} imports ${name}, which is not among the dependencies in package.json`];
}

function fileBreaches(
  file: string,
  entry: Import,
  imports: ImportMap,
  exported: ReadonlySet<string>,
): readonly string[] {
  const target = resolveImport(file, entry.specifier);
  const found: string[] = [];
  if (/\.tsx?$/.test(target) && !imports.has(target)) found.push(`${file} imports ${target}, which does not exist`);
  if (crossesToDashboard(file, target))
    found.push(`${file} imports ${target}: the dashboard knows the Admin API only, as a script does`);
  if (!file.startsWith('src/') || !target.startsWith('src/')) return found;
  if (entry.everything && !exported.has(file)) {
    found.push(`${file} passes on all of ${target}: only what package.json exports is a barrel`);
  }
  if (file.startsWith('src/plugins/')) return [...found, ...pluginBreaches(file, target, exported)];
  // Tests of one part may set up others.
  if (isTest(file)) return found;
  const from = ruleOf(file);
  if (from === null || isWithin(target, from)) return found;
  const mayImport = allowed[from];
  const broken =
    mayImport === undefined
      ? forbidden[from]?.some((folder) => isWithin(target, folder)) === true
      : !mayImport.some((folder) => isWithin(target, folder));
  if (broken) found.push(`${file} imports ${target}: ${from} must not import it`);
  return found;
}

/** What runs in browsers and what runs in the gateway share no code, and no types. */
function crossesToDashboard(file: string, target: string): boolean {
  const inDashboard = (path: string): boolean => path.startsWith('dashboard/');
  return inDashboard(file) !== inDashboard(target) && !file.startsWith('test/');
}

/** The lists of all bundled plugins. */
const generatedLists: ReadonlySet<string> = new Set(['src/plugins/registry.ts', 'src/plugins/definitions.ts']);

/** A plugin has what a third party has: its own folder and what package.json exports. Its integration tests boot a gateway. */
function pluginBreaches(file: string, target: string, exported: ReadonlySet<string>): readonly string[] {
  if (file.endsWith('.integration.test.ts') || generatedLists.has(file)) return [];
  const folder = file.split('/').slice(0, 3).join('/');
  if (target.startsWith(`${folder}/`) || exported.has(target)) return [];
  return target.startsWith('src/plugins/')
    ? [`${file} imports another plugin: ${target}`]
    : [`${file} imports ${target}, which package.json does not export`];
}

/** The longest key of the tables that `file` is in. */
function ruleOf(file: string): string | null {
  const folders = [...Object.keys(allowed), ...Object.keys(forbidden)].filter((folder) => isWithin(file, folder));
  return folders.reduce<string | null>((best, one) => (best === null || one.length > best.length ? one : best), null);
}

function isWithin(file: string, folder: string): boolean {
  return file === `src/${folder}` || file.startsWith(`src/${folder}/`);
}
