import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { PluginRegistry } from './plugin-registry.ts';

const sdk = new URL('../../plugin-sdk/index.ts', import.meta.url).href;
let directory = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shelf-'));
  for (const name of ['mine', 'cors']) {
    await writeFile(
      join(directory, `${name}.ts`),
      `import { definePlugin } from ${JSON.stringify(sdk)};
       export default definePlugin({ name: '${name}', version: '1.0.0', priority: 7, protocols: ['http'],
         schema: () => Promise.reject(new Error('not needed')), setup: () => ({}) });`,
    );
  }
});

after(() => rm(directory, { recursive: true }));

test('a bundled plugin is loaded on first use, once', async () => {
  const shelf = await PluginRegistry.open(['bundled'], directory);
  assert.equal(shelf.plugins.size, 0);
  await shelf.load(['cors', 'cors', 'nothing']);
  assert.deepEqual([...shelf.plugins.keys()], ['cors']);
  assert.equal(shelf.load(['cors', 'nothing']), null);
});

test('only plugins in the setting can be loaded; third-party ones are available at once', async () => {
  const shelf = await PluginRegistry.open(['cors', './mine.ts'], directory);
  assert.deepEqual([...shelf.plugins.keys()], ['mine']);
  assert.equal(shelf.load(['key-auth', 'mine']), null);
  await shelf.load(['cors']);
  assert.deepEqual([...shelf.plugins.keys()].sort(), ['cors', 'mine']);
});

test('a plugin with the name of a bundled one is rejected', async () => {
  const message = "plugins: two plugins have the name 'cors'";
  await assert.rejects(PluginRegistry.open(['bundled', './cors.ts'], directory), { message });
});
