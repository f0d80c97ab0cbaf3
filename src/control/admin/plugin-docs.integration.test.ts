import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestGateway } from '../../../test/support/gateway.ts';

const plugins = fileURLToPath(new URL('../../plugins', import.meta.url));

const source = (name: string, more = '') => `
  import { definePlugin } from 'sluicegate/plugin-sdk';
  import { record } from 'sluicegate/plugin-sdk/schema';
  export default definePlugin({
    name: '${name}', version: '1.0.0', priority: 7, protocols: ['http'], defaultProtocols: ['http'],
    schema: async () => ({ config: record({}) }),
    setup: () => ({}),
    ${more}
  });`;

test('GET /schemas/plugins/{name}/docs is the README of a bundled plugin, and of one of a user if it has one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluicegate-docs-'));
  for (const name of ['with-docs', 'without']) {
    await mkdir(join(folder, name));
    await writeFile(
      join(folder, name, 'index.ts'),
      source(name, name === 'with-docs' ? "capabilities: ['network']," : ''),
    );
  }
  await writeFile(join(folder, 'with-docs', 'README.md'), `# with-docs\n\n${'x'.repeat(300_000)}`);
  await using gateway = await startTestGateway({
    env: { KONG_PLUGINS: `key-auth, ${join(folder, 'with-docs/index.ts')}, ${join(folder, 'without/index.ts')}` },
  });
  const docs = async (name: string) => (await gateway.admin('GET', `/schemas/plugins/${name}/docs`)).body;
  assert.deepEqual(await docs('key-auth'), {
    name: 'key-auth',
    version: '1.0.0',
    bundled: true,
    capabilities: null,
    readme: await readFile(join(plugins, 'key-auth/README.md'), 'utf8'),
  });
  const { readme, ...about } = await docs('with-docs');
  assert.deepEqual(about, { name: 'with-docs', version: '1.0.0', bundled: false, capabilities: ['network'] });
  assert.match(String(readme), /^# with-docs\n\nxxx/);
  assert.equal(String(readme).length, 256 * 1024, 'no more of a long one');
  assert.deepEqual(await docs('without'), {
    name: 'without',
    version: '1.0.0',
    bundled: false,
    capabilities: null,
    readme: null,
  });
  const available = Object((await gateway.admin('GET', '/')).body['plugins']).available_on_server;
  assert.deepEqual(available['with-docs'], { version: '1.0.0', priority: 7, capabilities: ['network'] });
  assert.deepEqual(available['without'], { version: '1.0.0', priority: 7 });
  // Only plugins that are loaded, whatever the path leads to.
  for (const name of ['cors', '..%2Fkey-auth', '..%2F..%2F..%2Fdocs%2Fdecisions', 'nothing']) {
    assert.equal((await gateway.admin('GET', `/schemas/plugins/${name}/docs`)).status, 404, name);
  }
  await rm(folder, { recursive: true });
});
