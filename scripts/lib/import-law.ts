import { posix } from 'node:path';
import { isTest } from './files.ts';
import type { Import } from './import-scan.ts';

/** The imports of each file; paths are relative to the project. */
export type ImportMap = ReadonlyMap<string, readonly Import[]>;

const dataPlane = ['dataplane', 'http1', 'http2', 'router', 'balancer', 'upstream', 'plugin-runner', 'stream'];
const persistence = ['store', 'admin', 'entities'];
/** What only the main thread has a use for. */
const controlPlane = [...persistence, 'analytics', 'dns'];

/** What a folder of `src` may import beside itself and npm libraries. A folder that is not named may import any. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  util: [],
  schema: ['util'],
  entities: ['schema', 'util'],
  settings: ['util'],
  dns: ['settings', 'util'],
  tls: ['settings', 'util'],
  plugins: ['plugin-sdk'],
};

/** What a folder must never import. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(dataPlane.map((folder) => [folder, controlPlane])),
  // What workers record with is loaded by them: it must not bring the store along.
  observability: ['analytics', 'store'],
  admin: [...dataPlane.filter((folder) => folder !== 'plugin-runner'), 'plugins'],
};

/** Every breach of the import law, one line each. */
export function breaches(imports: ImportMap, dependencies: ReadonlySet<string>): readonly string[] {
  return [...imports].flatMap(([file, list]) =>
    list.flatMap((entry) =>
      entry.specifier.startsWith('.')
        ? fileBreaches(file, entry, imports)
        : packageBreaches(file, entry.specifier, dependencies),
    ),
  );
}

/** Path of the file that a relative import means. */
export function resolveImport(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier);
}

function packageBreaches(file: string, specifier: string, dependencies: ReadonlySet<string>): readonly string[] {
  if (specifier.startsWith('node:') || !file.startsWith('src/') || isTest(file)) return [];
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  return dependencies.has(name) ? [] : [`${file} imports ${name}, which is not among the dependencies in package.json`];
}

function fileBreaches(file: string, entry: Import, imports: ImportMap): readonly string[] {
  const target = resolveImport(file, entry.specifier);
  const found: string[] = [];
  if (target.endsWith('.ts') && !imports.has(target)) found.push(`${file} imports ${target}, which does not exist`);
  if (entry.everything && file.startsWith('src/') && folderOf(file) !== 'plugin-sdk') {
    found.push(`${file} passes on all of ${target}: only plugin-sdk has barrels`);
  }
  const from = folderOf(file);
  const to = folderOf(target);
  // Tests of one part may set up others; those of plugins run against the SDK alone.
  if (from === null || to === null || (isTest(file) && from !== 'plugins') || file.endsWith('.integration.test.ts'))
    return found;
  if (from === 'plugins' && to === 'plugins') {
    if (!file.endsWith('/registry.ts') && pluginOf(file) !== pluginOf(target))
      found.push(`${file} imports another plugin: ${target}`);
  } else if (from !== to && (allowed[from]?.includes(to) === false || forbidden[from]?.includes(to) === true)) {
    found.push(`${file} imports ${target}: ${from} must not import ${to}`);
  }
  return found;
}

/** `router` for `src/router/x.ts`, the file's name for `src/errors.ts`, null outside of `src`. */
function folderOf(path: string): string | null {
  const [top, folder] = path.split('/');
  return top === 'src' ? (folder ?? null) : null;
}

function pluginOf(path: string): string | undefined {
  return path.split('/')[2];
}
