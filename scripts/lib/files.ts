import { existsSync, globSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Files of the project that match, relative to its folder, sorted, with `/` between names. */
export function findFiles(...patterns: readonly string[]): readonly string[] {
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => path.split(sep).join('/'))
    .sort();
}

/** Names of the folders in `src/plugins`. */
export function pluginNames(): readonly string[] {
  return findFiles('src/plugins/*/').map((path) => path.replace(/\/$/, '').slice('src/plugins/'.length));
}

/** Those of them that can be loaded: a folder that is being written has its `index.ts` last. */
export function finishedPlugins(): readonly string[] {
  return pluginNames().filter((name) => existsSync(join(root, 'src/plugins', name, 'index.ts')));
}

/** Tests and what only tests load: fixtures, contract suites, reference implementations. */
export function isTest(path: string): boolean {
  return /\.(?:test|test-d|fixture|contract)\.ts$/.test(path) || path.includes('/testing/');
}
