import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadPlugins } from './load-plugins.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-load-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const broken = "const one = {\n  name: 'x'\n  version: 1,\n};\n";

const cases: readonly (readonly [what: string, files: Readonly<Record<string, string>>, problem: RegExp])[] = [
  ['a syntax error in TypeScript', { 'a.ts': broken }, /Expected ',', got 'ident' \(.*a\.ts:3:3\)$/],
  ['a syntax error in JavaScript', { 'b.mjs': broken }, /Unexpected identifier 'version' \(.*b\.mjs:3:3\)$/],
  [
    'one in a module that it imports',
    { 'c.ts': "import './c-inner.ts';\n", 'c-inner.ts': broken },
    /Expected ',', got 'ident' \(.*c-inner\.ts:3:3\)$/,
  ],
  ['syntax that cannot be stripped', { 'd.ts': '\nenum A { b }\n' }, /enum is not supported .*\(.*d\.ts:2:1\)$/],
  [
    'an exception while it loads',
    { 'e.ts': 'const list: { size?: number[] } = {};\nexport const first = list.size!.length;\n' },
    /Cannot read properties of undefined.*\(.*e\.ts:2:33\)$/,
  ],
  [
    'an exception that the gateway throws',
    {
      'i.ts':
        "import { compileRegex } from 'sluicegate/plugin-kit/runtime';\nfunction made() {\n  return compileRegex('(');\n}\nexport default made();\n",
    },
    / \(.*i\.ts:3:10\)$/,
  ],
  [
    'a missing module',
    {
      'f.ts': "import { join } from 'node:path';\nimport { greet } from './greet.ts';\nexport default [join, greet];\n",
    },
    /Cannot find module '.*greet\.ts' imported from .*f\.ts \(.*f\.ts:2:23\)$/,
  ],
  [
    'a missing package',
    { 'g.ts': "import greet from 'no-such-package';\nexport default greet;\n" },
    /Cannot find package 'no-such-package' imported from .*g\.ts \(.*g\.ts:1:19\)$/,
  ],
  [
    'a name that the SDK does not export',
    { 'h.ts': "\nimport { definePlugn } from 'sluicegate/plugin-sdk';\nexport default definePlugn;\n" },
    /does not provide an export named 'definePlugn' \(.*h\.ts:2:10\)$/,
  ],
];

for (const [what, files, problem] of cases) {
  test(`${what} is reported with file, line and column`, async () => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const [entry = ''] = Object.keys(files);
    const failed = await loadPlugins([join(folder, entry)]).then(
      () => assert.fail('it was loaded'),
      (error: Error) => error,
    );
    assert.match(failed.message, problem);
    assert.ok(!failed.message.includes('\n'));
  });
}
