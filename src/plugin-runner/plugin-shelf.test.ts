import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { PluginShelf } from './plugin-shelf.ts';

const sdk = new URL('../plugin-sdk/index.ts', import.meta.url).href;
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

test('what comes with the gateway is loaded when it is asked for, once', async () => {
  const shelf = await PluginShelf.open(['bundled'], directory);
  assert.equal(shelf.plugins.size, 0);
  await shelf.load(['cors', 'cors', 'nothing']);
  assert.deepEqual([...shelf.plugins.keys()], ['cors']);
  assert.equal(shelf.load(['cors', 'nothing']), null);
});

test('only what the setting names can be loaded; what is of others is there at once', async () => {
  const shelf = await PluginShelf.open(['cors', './mine.ts'], directory);
  assert.deepEqual([...shelf.plugins.keys()], ['mine']);
  assert.equal(shelf.load(['key-auth', 'mine']), null);
  await shelf.load(['cors']);
  assert.deepEqual([...shelf.plugins.keys()].sort(), ['cors', 'mine']);
});

test('a plugin with the name of one that comes with the gateway is refused', async () => {
  const message = "plugins: two plugins have the name 'cors'";
  await assert.rejects(PluginShelf.open(['bundled', './cors.ts'], directory), { message });
});
