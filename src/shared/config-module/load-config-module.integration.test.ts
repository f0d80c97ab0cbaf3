import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isConfigModule, loadConfigModule } from './load-config-module.ts';

const folder = mkdtempSync(join(tmpdir(), 'config-module-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a module with this text. `{}`: the place of the module. */
async function load(text: string, timeout?: number): Promise<unknown> {
  return loadConfigModule(module(text), timeout);
}

let modules = 0;
function module(text: string, name = `config-${++modules}.ts`): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function problemOf(text: string, timeout?: number): Promise<string> {
  const error = await load(text, timeout).then(
    () => assert.fail('it was loaded'),
    (found: unknown) => found,
  );
  return (error as Error).message.replaceAll(folder, '');
}

test('a module exports a config, a promise of one, or a function', async () => {
  const config = { _format_version: '3.0', services: [{ name: 'a', url: 'http://127.0.0.1:9' }] };
  const services = `services: [{ name: 'a', url: 'http://127.0.0.1:9', tags: undefined }]`;
  const defined = `import { defineConfig } from 'sluicegate'; export default defineConfig(`;
  for (const text of [
    `export default { ${services} }`,
    `${defined}{ ${services} });`,
    `${defined}Promise.resolve({ ${services} }));`,
    `${defined}(): object => ({ ${services} }));`,
    `const late = await Promise.resolve('a'); ${defined}async () => ({ ${services.replace("'a'", 'late')} }));`,
  ]) {
    assert.deepEqual(await load(text), config, text);
  }
});

test('it reads the environment, and may print', async () => {
  process.env['CONFIG_MODULE_TEST'] = 'http://from.example';
  const text = `console.log('loading'); export default { services: [{ name: 'a', url: process.env.CONFIG_MODULE_TEST }] }`;
  const { services } = (await load(text)) as { services: { url: string }[] };
  assert.equal(services[0]?.url, 'http://from.example');
});

test('it is read again each time, with what it imports', async () => {
  const file = module(`import { name } from './name.ts'; export default { services: [{ name, url: 'http://a' }] }`);
  for (const name of ['first', 'second']) {
    module(`export const name: string = '${name}';`, 'name.ts');
    const { services } = (await loadConfigModule(file)) as { services: { name: string }[] };
    assert.equal(services[0]?.name, name);
  }
});

test('what is wrong is named with file, line and column', async () => {
  modules = 100;
  assert.match(await problemOf('export default {\n  services: [\n};'), /\(\/config-101\.ts:3:1\)$/);
  assert.match(
    await problemOf(`\nimport { x } from './missing.ts';\nexport default { x };`),
    /missing.*\(\/config-102\.ts:2:19\)$/,
  );
  assert.match(
    await problemOf(`export default () => {\n  throw new Error('ORDERS_URL is not set');\n};`),
    /^ORDERS_URL is not set \(\/config-103\.ts:2:9\)$/,
  );
  assert.match(await problemOf('export const config = {};'), /^it has no default export/);
  assert.equal(
    await problemOf('export default { services: [{ name: () => 1 }] };'),
    'services[0].name: a function cannot be in a config',
  );
  assert.equal(await problemOf('export default [];'), 'a config is an object, not a list');
  assert.equal(
    await problemOf('const a: any = {}; a.services = [a]; export default a;'),
    'services[0]: the config contains itself',
  );
  assert.match(await problemOf('process.exit(3);'), /ended before it had a config \(code 3\)/);
});

test('a module that never has its config is given up', async () => {
  assert.match(
    await problemOf('setInterval(() => {}, 1000); export default new Promise(() => {});', 2_000),
    /no config after 2 s/,
  );
});

test('only modules are run', () => {
  const names = ['sluicegate.config.ts', 'a.mts', 'a.js', 'a.mjs', 'kong.yaml', 'kong.yml', 'kong.json', '-'];
  assert.deepEqual(names.filter(isConfigModule), names.slice(0, 4));
});
