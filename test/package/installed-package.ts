import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copySource } from './source-copy.ts';

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
  /** File name of the tarball. */
  readonly path: string;
  readonly files: readonly PackedFile[];
  /** Bytes of the tarball. */
  readonly size: number;
  readonly unpackedSize: number;
}

/** Runs `npm pack`, which compiles first, in a copy of the working tree. */
export async function packPackage(folder: string): Promise<PackedPackage> {
  const source = join(folder, 'source');
  await copySource(source);
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
  return { ...packed, path: join(folder, packed.filename) };
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
    if (path !== '' && locked.dev !== true) packages[path] = locked;
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
