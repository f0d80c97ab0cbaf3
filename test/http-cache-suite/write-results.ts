import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resultsPage } from './results-page.ts';
import { runSuite } from './run-suite.ts';

/* Runs the suite and writes docs/http-cache-results.md. */

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};
const results = await runSuite();
await writeFile(
  join(root, 'docs/http-cache-results.md'),
  resultsPage(results, manifest.devDependencies['http-cache-tests'] ?? ''),
);
process.exit(results.some(({ outcome }) => outcome === 'fail') ? 1 : 0);
