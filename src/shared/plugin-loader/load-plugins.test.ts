import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createInstance } from '../../data/plugin-runner/instances.ts';
import { testHost } from '../../plugin-testing/test-host.ts';
import { createPluginCatalog } from './catalog.ts';
import { loadPlugins } from './load-plugins.ts';

const sdk = fileURLToPath(new URL('../../plugin-sdk/index.ts', import.meta.url));
const host = testHost({}, [], new Map());
let directory = '';

function source(name: string): string {
  return `
    import { definePlugin } from ${JSON.stringify(sdk)};
    export default definePlugin({
      name: ${JSON.stringify(name)}, version: '1.0.0', priority: 7, protocols: ['http'], defaultProtocols: ['http'],
      schema: () => Promise.reject(new Error('not needed')),
      setup: () => ({}),
    });`;
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plugins-'));
  await writeFile(join(directory, 'mine.ts'), source('mine'));
  await writeFile(join(directory, 'twin.mjs'), source('mine'));
  await writeFile(join(directory, 'not-a-plugin.mjs'), 'export default { name: "x" };');
  await writeFile(join(directory, 'broken.mjs'), 'throw new Error("broken\\nby design");');
  await mkdir(join(directory, 'node_modules/packaged'), { recursive: true });
  await writeFile(
    join(directory, 'node_modules/packaged/package.json'),
    JSON.stringify({ name: 'packaged', type: 'module', exports: './plugin.js' }),
  );
  await writeFile(join(directory, 'node_modules/packaged/plugin.js'), source('packaged'));
});

after(() => rm(directory, { recursive: true }));

test('bundled loads all bundled plugins', async () => {
  const plugins = await loadPlugins(['bundled']);
  for (const name of ['correlation-id', 'cors', 'ip-restriction', 'request-termination']) assert.ok(plugins.has(name));
});

test('a bundled plugin can be named by itself, and named twice', async () => {
  assert.deepEqual([...(await loadPlugins(['cors'])).keys()], ['cors']);
  assert.equal((await loadPlugins(['bundled', 'cors'])).has('cors'), true);
});

test('off, and an empty list, load nothing', async () => {
  assert.equal((await loadPlugins(['off'])).size, 0);
  assert.equal((await loadPlugins([])).size, 0);
});

test('a file and a package are loaded relative to the working directory', async () => {
  const plugins = await loadPlugins(['cors', './mine.ts', 'packaged', join(directory, 'mine.ts')], directory);
  assert.deepEqual([...plugins.keys()].sort(), ['cors', 'mine', 'packaged']);
});

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  [
    'an unknown name',
    ['rate-limitting'],
    /^plugins: 'rate-limitting' cannot be loaded: no plugin and no package has this name \(did you mean 'rate-limiting'\?\)$/,
  ],
  ['a missing file', ['./none.ts'], /^plugins: '\.\/none\.ts' cannot be loaded/],
  [
    'a module that fails',
    ['./broken.mjs'],
    /^plugins: '\.\/broken\.mjs' cannot be loaded: broken \(.*broken\.mjs:1:7\)$/,
  ],
  ['a module that is not a plugin', ['./not-a-plugin.mjs'], /is not created by definePlugin$/],
  ['two plugins of one name', ['./mine.ts', './twin.mjs'], /^plugins: two plugins have the name 'mine'$/],
];
for (const [what, setting, message] of refused) {
  test(`${what} stops the start with one line`, async () => {
    await assert.rejects(loadPlugins(setting, directory), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });
  });
}

test('the catalog describes every plugin, and every field of its configuration', async () => {
  const catalog = await createPluginCatalog(await loadPlugins(['bundled']));
  assert.deepEqual(catalog.names(), catalog.names().toSorted());
  assert.equal(catalog.describe('nothing'), null);
  for (const name of catalog.names()) {
    const entry = catalog.describe(name);
    assert.ok(entry !== null && entry.protocols.length > 0 && entry.defaultProtocols.length > 0);
    for (const [field, { meta }] of entry.config.fields) assert.ok(meta.description, `${name}: config.${field}`);
  }
  assert.deepEqual(catalog.describe('cors')?.scopes, ['route', 'service']);
});

test('a row of a plugin that is not loaded is rejected with a hint', async () => {
  const plugins = await loadPlugins(['cors']);
  assert.throws(() => createInstance(plugins, { id: '1', name: 'jwt', config: {} }, host), {
    message: "plugin 'jwt' is not enabled: add it to the 'plugins' setting",
  });
});

test('a vault reference is never used as the secret itself', async () => {
  const plugins = await loadPlugins(['session', 'rate-limiting']);
  const config = { secret: '{vault://env/session-secret}' };
  assert.throws(() => createInstance(plugins, { id: '1', name: 'session', config }, host), {
    message: 'config.secret is a reference to a vault; configurations of plugins must hold the value itself',
  });
  const redis = { minute: 1, policy: 'redis', redis: { host: 'localhost', password: '{vault://env/redis/password}' } };
  assert.throws(() => createInstance(plugins, { id: '2', name: 'rate-limiting', config: redis }, host), {
    message: /^config\.redis\.password is a reference/,
  });
});

test('setup gets a frozen copy of the configuration', async () => {
  const config = { allow: ['10.0.0.0/8'], deny: null, status: null, message: null };
  const instance = createInstance(
    await loadPlugins(['ip-restriction']),
    { id: '1', name: 'ip-restriction', config },
    host,
  );
  config.allow.push('nonsense');
  assert.equal(typeof instance.phases.access, 'function');
  assert.equal(instance.lease, null);
});

test('a plugin outside any package gets the SDK of the running gateway', async () => {
  const file = join(directory, 'by-name.ts');
  await writeFile(
    file,
    source('by-name').replace(JSON.stringify(sdk), "'sluicegate/plugin-sdk'") +
      "\nexport { parseXml } from 'sluicegate/plugin-kit/xml';",
  );
  assert.deepEqual([...(await loadPlugins([file])).keys()], ['by-name']);
});
