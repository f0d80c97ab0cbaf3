import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resultsPage } from './results-page.ts';
import { runSuite } from './run-suite.ts';
import { suiteVersion } from './suite-package.ts';

/* Runs the suite and writes docs/http-cache-results.md. */

const root = join(import.meta.dirname, '../..');
const results = await runSuite();
await writeFile(join(root, 'docs/http-cache-results.md'), resultsPage(results, suiteVersion));
process.exit(results.some(({ outcome }) => outcome === 'fail') ? 1 : 0);
