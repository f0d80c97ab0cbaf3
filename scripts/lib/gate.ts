import type { Step } from './steps.ts';
import { print, runTogether, script, tool } from './steps.ts';
import { unitTests } from './test-step.ts';

/** The one gate: each group runs when the one before has passed; the steps of a group run side by side. */
export function gate(): Promise<boolean> {
  return runGroups([
    [
      tool('format and lint', 'biome', 'check', '--error-on-warnings'),
      tool('types', 'tsc', '--noEmit'),
      tool('types of the dashboard', 'tsc', '--noEmit', '-p', 'dashboard'),
      script('import law', 'scripts/check-imports.ts'),
      script('plugin folders', 'scripts/check-plugins.ts'),
      script('links', 'scripts/check-links.ts'),
      script('test index', 'scripts/check-tests.ts'),
      script('words', 'scripts/check-words.ts'),
      script('generated files', 'scripts/generate.ts', '--check'),
    ],
    [unitTests()],
  ]);
}

/** Runs groups of steps up to the first that fails, and tells how long it took. */
export async function runGroups(groups: readonly (readonly Step[])[]): Promise<boolean> {
  const start = performance.now();
  for (const group of groups) {
    if (!(await runTogether(group))) return false;
  }
  print(`all passed in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return true;
}
