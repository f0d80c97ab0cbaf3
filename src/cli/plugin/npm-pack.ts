import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CliError } from '../cli-error.ts';

export interface Tarball {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly string[];
}

/** Packs the folder as npm does, without the scripts of the package: `pack` is usually one of them. */
export async function npmPack(folder: string, destination: string): Promise<Tarball> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination];
  const options = { cwd: folder, timeout: 120_000, shell: process.platform === 'win32' };
  const { stdout } = await promisify(execFile)('npm', args, options).catch(
    (error: Error & { readonly stderr?: string }) => {
      throw new CliError(`npm pack failed: ${error.stderr?.trim() || error.message}`, { cause: error });
    },
  );
  const printed: unknown = JSON.parse(stdout);
  const [packed] = Object.values(printed as object) as (Omit<Tarball, 'files'> & {
    readonly files: readonly { readonly path: string }[];
  })[];
  if (packed === undefined) throw new CliError('npm pack printed no package');
  return { filename: packed.filename, size: packed.size, files: packed.files.map(({ path }) => path) };
}
