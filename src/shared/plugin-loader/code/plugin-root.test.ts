import assert from 'node:assert/strict';
import { test } from 'node:test';
import { belongs, rootOf } from './plugin-root.ts';

test('the root of a plugin is its folder, or that of its package', () => {
  assert.equal(rootOf('/srv/plugins/quota/index.ts'), 'file:///srv/plugins/quota/');
  assert.equal(rootOf('/srv/node_modules/quota/dist/index.js'), 'file:///srv/node_modules/quota/');
  assert.equal(rootOf('/srv/node_modules/@a/quota/dist/index.js'), 'file:///srv/node_modules/@a/quota/');
  assert.equal(rootOf('/srv/node_modules/a/node_modules/b/index.js'), 'file:///srv/node_modules/a/node_modules/b/');
});

test('what a plugin imports by a path is part of it; packages, Node and the gateway are not', () => {
  const root = 'file:///srv/plugins/quota/';
  const gateway = new URL('../../../plugin-sdk/index.ts', import.meta.url).href;
  for (const [url, specifier, expected] of [
    [`${root}handler.ts`, './handler.ts', true],
    ['file:///srv/plugins/shared/x.ts', '../shared/x.ts', true],
    ['file:///srv/plugins/quota/lib/x.ts', '#x', true],
    [`${root}node_modules/left/index.js`, 'left', false],
    ['file:///srv/node_modules/left/index.js', 'left', false],
    ['file:///srv/node_modules/left/index.js', '../../node_modules/left/index.js', false],
    ['file:///srv/workspace/right/index.ts', 'right', false],
    ['node:fs', 'node:fs', false],
    [gateway, 'sluicegate/plugin-sdk', false],
    [gateway, gateway, false],
  ] as const) {
    assert.equal(belongs(url, root, specifier), expected, `${specifier} -> ${url}`);
  }
});
