import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../scripts/lib/files.ts';

/**
 * Copies what a build needs of the working tree, uncommitted files included. Builds in copies cannot disturb each other:
 * a build replaces `dist/`.
 */
export function copySource(target: string): void {
  copyFiles(sourceFiles(), target);
  // Each package by a link of its own: whatever npm does with the folder stays in the copy.
  mkdirSync(join(target, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    symlinkSync(join(root, 'node_modules', name), join(target, 'node_modules', name));
  }
}

/** Paths of the working tree that a build may read, relative to the root. */
export function sourceFiles(): readonly string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  return list
    .split('\0')
    .filter((file) => file !== '' && !/^(?:docs|benchmarks|test)\//.test(file) && existsSync(join(root, file)));
}

/** Copies files of the working tree, with their times: the launcher compares them. Not asynchronous: that takes several times as long for so many small files. */
export function copyFiles(files: readonly string[], target: string): void {
  for (const folder of new Set(files.map((file) => dirname(file))))
    mkdirSync(join(target, folder), { recursive: true });
  for (const file of files) {
    const [from, to] = [join(root, file), join(target, file)];
    copyFileSync(from, to);
    const { atime, mtime } = statSync(from);
    utimesSync(to, atime, mtime);
  }
}
