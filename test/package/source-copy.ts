import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root } from '../../scripts/lib/files.ts';

/**
 * Copies what a build needs of the working tree, uncommitted files included. Builds in copies cannot disturb each other:
 * a build replaces `dist/`.
 */
export async function copySource(target: string): Promise<void> {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  for (const file of list.split('\0').filter((one) => one !== '' && existsSync(join(root, one)))) {
    if (/^(?:docs|benchmarks|test)\//.test(file)) continue;
    await mkdir(join(target, dirname(file)), { recursive: true });
    await cp(join(root, file), join(target, file), { preserveTimestamps: true });
  }
  // Each package by a link of its own: whatever npm does with the folder stays in the copy.
  await mkdir(join(target, 'node_modules'));
  for (const name of await readdir(join(root, 'node_modules'))) {
    await symlink(join(root, 'node_modules', name), join(target, 'node_modules', name));
  }
}
