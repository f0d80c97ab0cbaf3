import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { resolveEntry } from './resolve-entry.ts';

let base = '';

before(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'entries-')));
  const files: Readonly<Record<string, string>> = {
    'one.ts': '',
    'with-index/index.ts': '',
    'with-mts/index.mts': '',
    'with-js/index.js': '',
    'with-mjs/index.mjs': '',
    'with-src/src/index.ts': '',
    'with-main/package.json': '{ "main": "lib/plugin.js" }',
    'with-main/lib/plugin.js': '',
    'with-exports/package.json':
      '{ "main": "no.js", "exports": { ".": { "types": "./a.d.ts", "import": "./dist/a.js" } } }',
    'with-exports/dist/a.js': '',
    'not-built/package.json': '{ "exports": "./dist/index.js" }',
    'not-built/index.ts': '',
    'broken/package.json': '{ "exports": ',
    'empty/README.md': '',
    'node_modules/esm-only/package.json': '{ "name": "esm-only", "exports": { "import": "./plugin.mjs" } }',
    'node_modules/esm-only/plugin.mjs': '',
    'node_modules/dual/package.json': '{ "name": "dual", "exports": { "require": "./a.cjs", "default": "./a.js" } }',
    'node_modules/dual/a.cjs': '',
    'node_modules/dual/a.js': '',
    'node_modules/@acme/policies/package.json':
      '{ "name": "@acme/policies", "exports": { "./limit": { "node": { "import": "./limit.js" } }, "./deep/*": "./deep/*.js" } }',
    'node_modules/@acme/policies/limit.js': '',
    'node_modules/@acme/policies/deep/x.js': '',
    'node_modules/plain/package.json': '{ "name": "plain" }',
    'node_modules/plain/index.js': '',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(base, name)), { recursive: true });
    await writeFile(join(base, name), text);
  }
});
after(() => rm(base, { recursive: true }));

const found: Readonly<Record<string, string>> = {
  './one.ts': 'one.ts',
  './with-index': 'with-index/index.ts',
  './with-index/': 'with-index/index.ts',
  './with-mts': 'with-mts/index.mts',
  './with-js': 'with-js/index.js',
  './with-mjs': 'with-mjs/index.mjs',
  './with-src': 'with-src/src/index.ts',
  './with-main': 'with-main/lib/plugin.js',
  './with-exports': 'with-exports/dist/a.js',
  './not-built': 'not-built/index.ts',
  'esm-only': 'node_modules/esm-only/plugin.mjs',
  dual: 'node_modules/dual/a.js',
  '@acme/policies/limit': 'node_modules/@acme/policies/limit.js',
  '@acme/policies/deep/x': 'node_modules/@acme/policies/deep/x.js',
  plain: 'node_modules/plain/index.js',
};
for (const [entry, file] of Object.entries(found)) {
  test(`${entry} is ${file}`, () => assert.equal(resolveEntry(entry, base), join(base, file)));
}

const refused: readonly (readonly [string, RegExp])[] = [
  ['./one', /^there is no file or folder .*\/one \(did you mean .*\/one\.ts\?\)$/],
  ['./nothing', /^there is no file or folder .*\/nothing$/],
  ['./empty', /^the folder .*\/empty has none of index\.ts, index\.mts, index\.js, index\.mjs, src\/index\.ts$/],
  ['./broken', /broken\/package\.json: /],
  ['not-there', /^the package is not installed; install it in .*: npm install not-there$/],
  ['@acme/none/limit', /^the package is not installed; .*: npm install @acme\/none$/],
  ['corss', /^no plugin and no package has this name \(did you mean 'cors'\?\)$/],
  ['@acme/policies/other', /Package subpath '\.\/other' is not defined/],
];
for (const [entry, message] of refused) {
  test(`${entry} is refused with the reason`, () => {
    assert.throws(
      () => resolveEntry(entry, base),
      (error: Error) => {
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  });
}
