import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neededDeclarations } from './prune-declarations.ts';

const files: Readonly<Record<string, string>> = {
  'sdk/index.d.ts': `/** import { greet } from './handler.js'; */\nexport type * from './phases.js';`,
  'sdk/phases.d.ts': `export type A = import("../shared/a.js").A;`,
  'shared/a.d.ts': 'export type A = 1;',
  'shared/b.d.ts': `import type { A } from './a.js';`,
};

test('keeps what entries import, also within types, and nothing else', () => {
  const needed = neededDeclarations(['sdk/index.d.ts'], new Set(Object.keys(files)), (file) => files[file] ?? '');
  assert.deepEqual([...needed].sort(), ['sdk/index.d.ts', 'sdk/phases.d.ts', 'shared/a.d.ts']);
});
