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
const builtin = process.getBuiltinModule('node:tls');
export const k = ['x'];
`;

test('finds every form of import', () => {
  assert.deepEqual(
    scanImports(source).map(({ specifier, dynamic, typeOnly, everything }) => {
      return [specifier, dynamic && 'dynamic', typeOnly && 'type', everything && 'all'].filter(Boolean).join(' ');
    }),
    [
      './a.ts',
      './b.ts type',
      '../c.ts',
      './e.ts',
      'f',
      './g.ts',
      './h.ts all',
      './i.ts type all',
      './j.ts dynamic',
      'node:tls dynamic',
    ],
  );
});

test('the dashboard and the gateway share no code', () => {
  const manifest = { dependencies: new Set<string>(), exported: new Set<string>() };
  const found = (files: Readonly<Record<string, string>>) => breaches(mapOf(files), manifest);
  const page = { 'dashboard/src/a.tsx': "import './b.ts';", 'dashboard/src/b.ts': '', 'src/version.ts': '' };
  assert.deepEqual(found(page), []);
  const crossing = "import type { A } from '../../src/version.ts';";
  assert.match(
    found({ ...page, 'dashboard/src/c.tsx': crossing }).join(),
    /c\.tsx imports src\/version\.ts: the dashboard/,
  );
  assert.match(
    found({ ...page, 'src/d.ts': "import '../dashboard/src/b.ts';" }).join(),
    /src\/d\.ts imports dashboard/,
  );
});

test('only tests use the HTTP/2 of Node', () => {
  const manifest = { dependencies: new Set<string>(), exported: new Set<string>() };
  const found = (file: string, text: string) => breaches(mapOf({ [file]: text }), manifest);
  for (const text of [
    "import { connect } from 'node:http2';",
    "import type { ClientHttp2Session } from 'http2';",
    "const session = process.getBuiltinModule('node:http2').connect('https://a.test');",
    "const http2 = await import('node:http2');",
  ]) {
    assert.match(
      found('src/control/a.ts', text).join(),
      /src\/control\/a\.ts imports (?:node:)?http2: the HTTP\/2 engine/,
    );
    assert.deepEqual(found('src/control/a.test.ts', text), []);
    assert.deepEqual(found('test/support/a.ts', text), []);
  }
  assert.deepEqual(found('src/control/a.ts', "import { get } from 'node:http';"), []);
});

function mapOf(files: Readonly<Record<string, string>>): Map<string, ReturnType<typeof scanImports>> {
  return new Map(Object.entries(files).map(([path, text]) => [path, scanImports(text)]));
}

describe('the law', () => {
  const exported = new Set(['src/plugin-sdk/index.ts', 'src/plugin-kit/json/index.ts']);
  const refused = (from: string, to: string, rule: string) => `${from} imports ${to}: ${rule} must not import it`;
  const cases: readonly (readonly [string, string, string | null])[] = [
    ['src/shared/util/a.ts', 'src/shared/util/b.ts', null],
    [
      'src/shared/util/a.ts',
      'src/shared/settings/b.ts',
      refused('src/shared/util/a.ts', 'src/shared/settings/b.ts', 'shared/util'),
    ],
    ['src/shared/entities/a.ts', 'src/shared/schema/b.ts', null],
    [
      'src/shared/entities/a.ts',
      'src/control/store/b.ts',
      refused('src/shared/entities/a.ts', 'src/control/store/b.ts', 'shared/entities'),
    ],
    [
      'src/shared/limits/a.ts',
      'src/data/router/b.ts',
      refused('src/shared/limits/a.ts', 'src/data/router/b.ts', 'shared'),
    ],
    ['src/data/http1/a.ts', 'src/control/store/b.ts', refused('src/data/http1/a.ts', 'src/control/store/b.ts', 'data')],
    ['src/data/http1/a.ts', 'src/data/router/b.ts', null],
    ['src/data/http1/a.ts', 'src/shared/util/b.ts', null],
    ['src/control/admin/a.ts', 'src/control/store/b.ts', null],
    [
      'src/control/admin/a.ts',
      'src/data/router/b.ts',
      refused('src/control/admin/a.ts', 'src/data/router/b.ts', 'control'),
    ],
    ['src/boot/a.ts', 'src/control/store/b.ts', null],
    ['src/boot/a.ts', 'src/data/router/b.ts', refused('src/boot/a.ts', 'src/data/router/b.ts', 'boot')],
    [
      'src/plugin-sdk/a.ts',
      'src/plugin-kit/json/b.ts',
      refused('src/plugin-sdk/a.ts', 'src/plugin-kit/json/b.ts', 'plugin-sdk'),
    ],
    ['src/plugins/x/a.ts', 'src/plugins/x/b.ts', null],
    ['src/plugins/x/a.ts', 'src/plugin-sdk/index.ts', null],
    ['src/plugins/x/a.ts', 'src/plugin-kit/json/index.ts', null],
    [
      'src/plugins/x/a.ts',
      'src/plugin-sdk/b.ts',
      'src/plugins/x/a.ts imports src/plugin-sdk/b.ts, which package.json does not export',
    ],
    ['src/plugins/x/a.ts', 'src/plugins/y/b.ts', 'src/plugins/x/a.ts imports another plugin: src/plugins/y/b.ts'],
    [
      'src/plugins/x/a.test.ts',
      'src/data/router/b.ts',
      'src/plugins/x/a.test.ts imports src/data/router/b.ts, which package.json does not export',
    ],
    ['src/plugins/registry.ts', 'src/plugins/y/b.ts', null],
    ['src/data/router/a.test.ts', 'src/control/store/b.ts', null],
    ['src/data/router/a.fixture.ts', 'src/control/store/b.ts', null],
    ['test/a.ts', 'src/control/store/b.ts', null],
  ];
  for (const [from, to, message] of cases) {
    test(`${from} ${message === null ? 'may' : 'must not'} import ${to}`, () => {
      const up = '../'.repeat(from.split('/').length - 1);
      const map = mapOf({ [from]: `import { x } from '${up}${to}';`, [to]: '' });
      assert.deepEqual(breaches(map, { dependencies: new Set(), exported }), message === null ? [] : [message]);
    });
  }

  test('reports missing files, undeclared packages and barrels', () => {
    const map = mapOf({
      'src/a.ts':
        "import './b.ts';\nimport { z } from 'zod';\nimport w from '@x/y/deep';\nimport 'node:fs';\nexport * from './plugin-sdk/c.ts';",
      'src/plugin-sdk/c.ts': '',
      'src/plugin-sdk/index.ts': "export * from './c.ts';",
    });
    assert.deepEqual(breaches(map, { dependencies: new Set(['zod']), exported }), [
      'src/a.ts imports src/b.ts, which does not exist',
      'src/a.ts imports @x/y, which is not among the dependencies in package.json',
      'src/a.ts passes on all of src/plugin-sdk/c.ts: only what package.json exports is a barrel',
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

  test('are found between files that load each other', () => {
    assert.deepEqual(findCircles(map), [['src/b.ts', 'src/c.ts', 'src/b.ts']]);
  });

  test('of types are found with the option for types', () => {
    assert.deepEqual(findCircles(map, true), [
      ['src/b.ts', 'src/c.ts', 'src/b.ts'],
      ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts', 'src/a.ts'],
    ]);
  });
});
