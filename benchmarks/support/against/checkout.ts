import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../machine/tools.ts';

const project = join(import.meta.dirname, '..', '..', '..');

export interface Checkout {
  /** Full name of the commit. */
  readonly commit: string;
  readonly root: string;
}

/**
 * Unpacks a commit into a new temporary folder, which the caller removes. Its dependencies are those installed here if the lock
 * file is the same; else they are installed there.
 */
export function checkOut(name: string, say: (text: string) => void): Checkout {
  const found = spawnSync('git', ['-C', project, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`], {
    encoding: 'utf8',
  });
  if (found.status !== 0) throw new BenchError(`there is no commit "${name}"`);
  const commit = found.stdout.trim();
  const root = mkdtempSync(join(tmpdir(), 'sluicegate-against-'));
  try {
    const archive = execFileSync('git', ['-C', project, 'archive', '--format=tar', commit], { maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', root], { input: archive });
    provideDependencies(root, say);
  } catch (error) {
    rmSync(root, { recursive: true, force: true });
    throw error;
  }
  return { commit, root };
}

function provideDependencies(root: string, say: (text: string) => void): void {
  mkdirSync(join(root, '.runtime'));
  const lock = (folder: string): string => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const installed = join(project, 'node_modules');
  if (existsSync(installed) && lock(root) === lock(project)) {
    symlinkSync(installed, join(root, 'node_modules'));
    return;
  }
  say('the dependencies of that commit differ: npm ci');
  const npm = spawnSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (npm.status !== 0) throw new BenchError('npm ci failed for that commit');
}
