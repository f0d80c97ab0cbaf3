import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findCircles } from './import-circles.ts';
import { breaches } from './import-law.ts';
import { scanImports } from './import-scan.ts';

const source = `
import { a } from './a.ts';
import type { b } from './b.ts';
import {
  c,
  type d,
} from '../c.ts';
import './e.ts';
import * as f from 'f';
export { g } from './g.ts';
export * from './h.ts';
export type * from './i.ts';
// import { no } from './no.ts';
/* import { no } from './no.ts'; */
const text = 'from somewhere';
const code = \`
import { no } from './no.ts';
\`;
const later = () => import('./j.ts');
export const k = ['x'];
`;

test('every form of import is found', () => {
  assert.deepEqual(
    scanImports(source).map(({ specifier, dynamic, typeOnly, everything }) => {
      return [specifier, dynamic && 'dynamic', typeOnly && 'type', everything && 'all'].filter(Boolean).join(' ');
    }),
    ['./a.ts', './b.ts type', '../c.ts', './e.ts', 'f', './g.ts', './h.ts all', './i.ts type all', './j.ts dynamic'],
  );
});

function mapOf(files: Readonly<Record<string, string>>): Map<string, ReturnType<typeof scanImports>> {
  return new Map(Object.entries(files).map(([path, text]) => [path, scanImports(text)]));
}

describe('the law', () => {
  const cases: readonly (readonly [string, string, string | null])[] = [
    ['src/util/a.ts', 'src/settings/b.ts', 'src/util/a.ts imports src/settings/b.ts: util must not import settings'],
    ['src/util/a.ts', 'src/util/b.ts', null],
    ['src/http1/a.ts', 'src/store/b.ts', 'src/http1/a.ts imports src/store/b.ts: http1 must not import store'],
    ['src/http1/a.ts', 'src/util/b.ts', null],
    ['src/admin/a.ts', 'src/store/b.ts', null],
    ['src/admin/a.ts', 'src/router/b.ts', 'src/admin/a.ts imports src/router/b.ts: admin must not import router'],
    ['src/entities/a.ts', 'src/schema/b.ts', null],
    ['src/entities/a.ts', 'src/store/b.ts', 'src/entities/a.ts imports src/store/b.ts: entities must not import store'],
    ['src/plugins/x/a.ts', 'src/plugin-sdk/b.ts', null],
    ['src/plugins/x/a.ts', 'src/plugins/x/b.ts', null],
    ['src/plugins/x/a.ts', 'src/plugins/y/b.ts', 'src/plugins/x/a.ts imports another plugin: src/plugins/y/b.ts'],
    [
      'src/plugins/x/a.test.ts',
      'src/router/b.ts',
      'src/plugins/x/a.test.ts imports src/router/b.ts: plugins must not import router',
    ],
    ['src/plugins/registry.ts', 'src/plugins/y/b.ts', null],
    ['src/router/a.test.ts', 'src/store/b.ts', null],
    ['test/a.ts', 'src/store/b.ts', null],
  ];
  for (const [from, to, message] of cases) {
    test(`${from} ${message === null ? 'may' : 'must not'} import ${to}`, () => {
      const up = '../'.repeat(from.split('/').length - 1);
      const map = mapOf({ [from]: `import { x } from '${up}${to}';`, [to]: '' });
      assert.deepEqual(breaches(map, new Set()), message === null ? [] : [message]);
    });
  }

  test('a file must exist, a package must be declared, a barrel is refused', () => {
    const map = mapOf({
      'src/a.ts':
        "import './b.ts';\nimport { z } from 'zod';\nimport w from '@x/y/deep';\nimport 'node:fs';\nexport * from './c.ts';",
      'src/c.ts': '',
      'src/plugin-sdk/index.ts': "export * from '../c.ts';",
    });
    assert.deepEqual(breaches(map, new Set(['zod'])), [
      'src/a.ts imports src/b.ts, which does not exist',
      'src/a.ts imports @x/y, which is not among the dependencies in package.json',
      'src/a.ts passes on all of src/c.ts: only plugin-sdk has barrels',
    ]);
  });
});

describe('circles', () => {
  const map = mapOf({
    'src/a.ts': "import './b.ts';",
    'src/b.ts': "import './c.ts';",
    'src/c.ts': "import './b.ts';\nimport './d.ts';",
    'src/d.ts': `
import type { A } from './a.ts';
const a = () => import('./a.ts');`,
  });

  test('files that load each other are found', () => {
    assert.deepEqual(findCircles(map), [['src/b.ts', 'src/c.ts', 'src/b.ts']]);
  });

  test('circles of types are found when asked for', () => {
    assert.deepEqual(findCircles(map, true), [
      ['src/b.ts', 'src/c.ts', 'src/b.ts'],
      ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts', 'src/a.ts'],
    ]);
  });
});
