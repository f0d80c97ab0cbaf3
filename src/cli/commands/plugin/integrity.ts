import { realpathSync } from 'node:fs';
import { folderOfEntry, packageDigest } from '../../../shared/plugin-loader/integrity/package-digest.ts';
import { isPath, resolveEntry } from '../../../shared/plugin-loader/resolve-entry.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';

/** `plugin integrity [folder|package]`: prints the hash of a plugin's files, as `plugins_integrity` pins it. No code of it runs. */
export async function printIntegrity({ arguments: { positionals }, cwd, out, err }: CommandContext): Promise<number> {
  const [, entry = '.', ...more] = positionals;
  if (more.length > 0) throw new CliError('usage: sluicegate plugin integrity [folder|package]');
  const { folder, integrity, files } = digestOf(entry, cwd);
  out(`${entry}=${integrity}`);
  err(`${files.size} ${files.size === 1 ? 'file' : 'files'} of ${folder}`);
  return 0;
}

function digestOf(entry: string, cwd: string) {
  try {
    const file = realpathSync(resolveEntry(entry, cwd));
    return packageDigest(folderOfEntry(entry, file, cwd));
  } catch (error) {
    const hint = isPath(entry) ? '' : ` (a folder begins with ./: ./${entry})`;
    throw new CliError(`'${entry}': ${error instanceof Error ? error.message : String(error)}${hint}`, {
      cause: error,
    });
  }
}
