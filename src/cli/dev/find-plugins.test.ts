import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { namedPlugins, pluginIn } from './find-plugins.ts';

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-find-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

test('the plugin of a folder is its index.ts, also where a package.json names what is compiled from it', (t) => {
  const manifest = JSON.stringify({ exports: { '.': { default: './dist/index.js' } } });
  const folder = folderWith(t, { 'index.ts': '', 'package.json': manifest, 'dist/index.js': '' });
  assert.equal(pluginIn(folder, folder)?.entry, './index.ts');
});

for (const manifest of [
  { exports: './lib/main.js' },
  { exports: { '.': './lib/main.js' } },
  { exports: { '.': { types: './lib/main.d.ts', import: './lib/main.js' } } },
  { main: 'lib/main.js' },
]) {
  test(`the module of a package.json is found: ${JSON.stringify(manifest)}`, (t) => {
    const folder = folderWith(t, { 'package.json': JSON.stringify(manifest), 'lib/main.js': '' });
    assert.equal(pluginIn(folder, folder)?.entry, './lib/main.js');
  });
}

test('a folder without a plugin has none', (t) => {
  const folder = folderWith(t, { 'package.json': '{"name":"x"}', 'README.md': '' });
  assert.equal(pluginIn(folder, folder), null);
  assert.throws(() => namedPlugins(['.'], folder), /has no plugin: neither index\.ts nor a package\.json/);
});

test('a plugin is named by its folder, its file or its package', (t) => {
  const folder = folderWith(t, { 'my-policy/index.ts': '' });
  const entries = (name: string) => namedPlugins([name], folder).map(({ entry }) => entry);
  assert.deepEqual(entries('./my-policy'), ['./my-policy/index.ts']);
  assert.deepEqual(entries('my-policy'), ['./my-policy/index.ts']);
  assert.deepEqual(entries('my-policy/index.ts'), ['./my-policy/index.ts']);
  assert.deepEqual(entries('@example/my-policy'), ['@example/my-policy']);
  assert.throws(() => namedPlugins(['./other'], folder), /there is no \.\/other/);
});

test('a folder above the working directory may have a space in its name', (t) => {
  const folder = folderWith(t, { 'my plugins/policy/index.ts': '' });
  const inside = join(folder, 'my plugins/policy');
  assert.equal(pluginIn(inside, inside)?.entry, './index.ts');
  assert.throws(() => namedPlugins([inside], folder), /has a space or a comma/);
});
