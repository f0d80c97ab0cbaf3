import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The version that an upgrade comes from, as a source tree that Node can run. */
export interface PreviousVersion {
  readonly folder: string;
  /** The command line: `node <entry> start`. */
  readonly entry: string;
  /** Commit, or `copy` where there is no history. */
  readonly revision: string;
}

let prepared: PreviousVersion | null = null;

/**
 * The release before this tree: on the release branch (`main`) the first parent of the commit, elsewhere the commit at which the branch
 * left it. Without a history, such as in a source archive, it is a copy of this tree without the newest migration of the store.
 * Prepared once for each process, and removed at its end.
 */
export async function previousVersion(): Promise<PreviousVersion> {
  prepared ??= prepare();
  return prepared;
}

function prepare(): PreviousVersion {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-previous-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const commit = previousCommit();
  if (commit === null) copyTree(folder);
  else extract(commit, folder);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return { folder, entry: join(folder, 'src/main.ts'), revision: commit ?? 'copy' };
}

function previousCommit(): string | null {
  // An archive may lie within another repository.
  if (git('rev-parse', '--show-toplevel') !== realpathSync(root)) return null;
  const release = ['main', 'origin/main'].find((branch) => git('rev-parse', '--verify', '--quiet', branch) !== null);
  const base = release === undefined ? null : git('merge-base', 'HEAD', release);
  return base === null || base === git('rev-parse', 'HEAD') ? git('rev-parse', '--verify', '--quiet', 'HEAD^1') : base;
}

function git(...args: readonly string[]): string | null {
  try {
    return execFileSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

function extract(commit: string, folder: string): void {
  const archive = execFileSync('git', ['-C', root, 'archive', commit, 'src', 'bin', 'package.json'], {
    maxBuffer: 1 << 30,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
}

function copyTree(folder: string): void {
  for (const name of ['src', 'bin', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true });
  const list = join(folder, 'src/control/store/sql/migrations/migrations.ts');
  const text = readFileSync(list, 'utf8');
  const cut = text.replace(/\w+,?\s*\];\s*$/, '];\n');
  if (cut === text) throw new Error(`${list} has no migration to remove`);
  writeFileSync(list, cut);
}
