import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copySource, sourceFiles } from './source-copy.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The environment of a user's shell: nothing from the repository except the Node that runs the tests. */
export const shell: NodeJS.ProcessEnv = {
  PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  HOME: process.env['HOME'],
  npm_config_loglevel: 'error',
  npm_config_update_notifier: 'false',
};

export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

export interface PackedPackage {
  /** Path of the tarball. */
  readonly path: string;
  readonly files: readonly PackedFile[];
  /** Bytes of the tarball. */
  readonly size: number;
  readonly unpackedSize: number;
}

const packages = join(root, '.runtime/test-packages');

/**
 * The package of the working tree, as `npm pack` makes it, which compiles first. Test files that run at different times or
 * at the same time share it as long as no file has changed: the first of them makes it.
 */
export async function packPackage(): Promise<PackedPackage> {
  const target = join(packages, await sourceHash());
  const known = await readPacked(target);
  if (known !== null) return known;
  await mkdir(packages, { recursive: true });
  const unfinished = await mkdtemp(join(packages, 'unfinished-'));
  try {
    const packed = await pack(unfinished);
    await writeJson(join(unfinished, recordName), packed);
    // Fails if another process was faster: then its package is there.
    await rename(unfinished, target).catch(() => {});
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  const made = await readPacked(target);
  if (made === null) throw new Error(`the package is not in ${target}`);
  await removeOthers(target);
  return made;
}

const recordName = 'packed.json';

async function readPacked(folder: string): Promise<PackedPackage | null> {
  const text = await readFile(join(folder, recordName), 'utf8').catch(() => null);
  if (text === null) return null;
  const packed = JSON.parse(text) as PackedPackage;
  return { ...packed, path: join(folder, packed.path) };
}

/** Of all that the package is made from, and with. */
async function sourceHash(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  for (const file of [...sourceFiles()].sort()) {
    const content = await readFile(join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 32);
}

/** Packages of older sources; another run may still use one that is less than an hour old. */
async function removeOthers(target: string): Promise<void> {
  for (const name of await readdir(packages)) {
    const folder = join(packages, name);
    const changed = await stat(folder).catch(() => null);
    if (folder !== target && changed !== null && Date.now() - changed.mtimeMs > 3_600_000)
      await rm(folder, { recursive: true, force: true });
  }
}

/** The tarball has its own name in the folder. */
async function pack(folder: string): Promise<PackedPackage> {
  const source = join(folder, 'source');
  copySource(source);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: source,
    env: shell,
    timeout: 180_000,
  });
  await rm(source, { recursive: true, force: true });
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as (Omit<PackedPackage, 'path'> & {
    readonly filename: string;
  })[];
  if (packed === undefined) throw new Error(`npm pack printed no package: ${stdout}`);
  return { ...packed, path: packed.filename };
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly [field: string]: unknown;
}

/**
 * Installs the tarball in a folder, as `npm install <tarball>` does. The versions are those of the repository, without
 * development dependencies, so npm uses its cache, and a dependency in the wrong list is missing.
 */
export async function installPackage(tarball: string, folder: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    readonly lockfileVersion: number;
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const { name, version, dependencies, engines, bin } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const spec = `file:${tarball}`;
  const packages: Record<string, unknown> = {
    '': { name: 'app', dependencies: { [name]: spec } },
    [`node_modules/${name}`]: { version, resolved: spec, dependencies, engines, bin },
  };
  for (const [path, locked] of Object.entries(lock.packages)) {
    // The workspace of the dashboard is published as built files.
    const isWorkspace = path === 'dashboard' || locked.link === true;
    if (path !== '' && locked.dev !== true && !isWorkspace) packages[path] = locked;
  }
  await mkdir(folder, { recursive: true });
  await writeJson(join(folder, 'package.json'), { name: 'app', private: true, dependencies: { [name]: spec } });
  await writeJson(join(folder, 'package-lock.json'), {
    name: 'app',
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages,
  });
  const options = { cwd: folder, env: shell, timeout: 90_000 };
  await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], options);
}

export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(path, JSON.stringify(value, null, 2));
}

/** Type-checks a folder with the repository's compiler; returns its errors, or an empty text. */
export async function typeErrors(folder: string): Promise<string> {
  const options = { cwd: folder, env: shell, timeout: 60_000 };
  return await run(join(root, 'node_modules/.bin/tsc'), ['--noEmit'], options).then(
    () => '',
    (error: { readonly stdout: string }) => error.stdout,
  );
}
