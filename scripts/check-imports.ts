// Holds the import law: which folder may import which, no circles, no barrels, no undeclared packages.
// With --types, circles of types alone are shown too.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFiles, root } from './lib/files.ts';
import { findCircles } from './lib/import-circles.ts';
import { breaches } from './lib/import-law.ts';
import { scanImports } from './lib/import-scan.ts';
import { finish } from './lib/report.ts';

const files = findFiles('src/**/*.ts', 'scripts/**/*.ts', 'test/**/*.ts', 'benchmarks/**/*.ts', 'examples/**/*.ts');
const imports = new Map(files.map((file) => [file, scanImports(readFileSync(join(root, file), 'utf8'))]));
const manifest: { dependencies?: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

finish(`the imports of ${files.length} files keep the law`, [
  ...breaches(imports, new Set(Object.keys(manifest.dependencies ?? {}))),
  ...findCircles(imports, process.argv.includes('--types')).map((circle) => `circle: ${circle.join(' -> ')}`),
]);
