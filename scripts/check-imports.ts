// Holds the import law: which folder may import which, no circles (of types neither), no barrels, no undeclared packages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFiles, root } from './lib/files.ts';
import { findCircles } from './lib/import-circles.ts';
import { breaches } from './lib/import-law.ts';
import { scanImports } from './lib/import-scan.ts';
import { finish } from './lib/report.ts';

const files = findFiles(
  'src/**/*.ts',
  'scripts/**/*.ts',
  'test/**/*.ts',
  'benchmarks/**/*.ts',
  'examples/**/*.ts',
  'dashboard/{src,test}/**/*.{ts,tsx}',
  'dashboard/*.ts',
);
const imports = new Map(files.map((file) => [file, scanImports(readFileSync(join(root, file), 'utf8'))]));
const manifest: {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

finish(`the imports of ${files.length} files keep the law`, [
  ...breaches(imports, {
    dependencies: new Set(Object.keys(manifest.dependencies ?? {})),
    exported: new Set(
      Object.values(manifest.exports ?? {}).map((paths) => (paths['sluicegate-source'] ?? '').replace('./', '')),
    ),
  }),
  ...findCircles(imports, true).map((circle) => `circle: ${circle.join(' -> ')}`),
]);
