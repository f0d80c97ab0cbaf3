import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withJavaScriptNames } from '../../../src/cli/plugin/module-names.ts';
import { reachableModules } from './module-graph.ts';

const files: Readonly<Record<string, string>> = {
  'src/main.ts': `import { run } from './cli/run.ts';\nconst entry = new URL('./worker.ts', import.meta.url);`,
  'src/cli/run.ts': `import type { Late } from '../late.ts';\nconst late = loadNow(import.meta.url, '../late.ts');`,
  'src/late.ts': `import { main } from './main.ts';\nimport 'node:fs';`,
  'src/worker.ts': `export const load = () => import("./deep/er.ts");`,
  'src/deep/er.ts': '',
  'src/main.test.ts': `import './main.ts';`,
};

test('reaches imports, modules of threads and modules loaded on demand, but not tests', () => {
  assert.deepEqual(
    reachableModules(['src/main.ts'], (path) => files[path] ?? ''),
    ['src/cli/run.ts', 'src/deep/er.ts', 'src/late.ts', 'src/main.ts', 'src/worker.ts'],
  );
});

test('modules that only examples in comments name are not reachable', () => {
  const text = `/**\n * @example\n * import { greet } from './handler.ts';\n */\n// As './other.ts'.\nexport const a = 1;`;
  assert.deepEqual(
    reachableModules(['src/sdk.ts'], () => text),
    ['src/sdk.ts'],
  );
});

test('renames relative imports to JavaScript files, and leaves others unchanged', () => {
  assert.equal(
    withJavaScriptNames(`import a from "./a.ts"; new URL('../b/c.ts', u); const name = 'worker.ts'; import('x/y.ts');`),
    `import a from "./a.js"; new URL('../b/c.js', u); const name = 'worker.ts'; import('x/y.ts');`,
  );
});
