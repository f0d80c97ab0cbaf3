import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withJavaScriptNames } from '../../../src/cli/plugin/module-names.ts';
import { root } from '../files.ts';

/** Compiles `files` (below `src/`) to `target`, without a check of their types. Throws with what the compiler reports. */
export function compile(files: readonly string[], target: string, options: Readonly<Record<string, unknown>>): void {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-build-'));
  try {
    const config = join(folder, 'tsconfig.json');
    const compilerOptions = {
      noEmit: false,
      // The gate checks the types; here that would take four times as long as the rest.
      noCheck: true,
      rootDir: join(root, 'src'),
      outDir: target,
      rewriteRelativeImportExtensions: true,
      typeRoots: [join(root, 'node_modules', '@types')],
      ...options,
    };
    const paths = files.map((file) => join(root, file));
    writeFileSync(
      config,
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: paths }),
    );
    const { status, stdout, error } = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['--project', config], {
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new Error(`tsc failed: ${error?.message ?? stdout}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const file of emitted(target)) {
    const path = join(target, file);
    writeFileSync(path, withJavaScriptNames(readFileSync(path, 'utf8')));
  }
}

export function emitted(target: string): readonly string[] {
  return globSync('**/*.{js,d.ts}', { cwd: target });
}
