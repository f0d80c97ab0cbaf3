import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundledPlugins } from '../../plugins/registry.ts';

test('plugins in a worker do not load the validation library', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { PluginRegistry } = await import(${JSON.stringify(new URL('./plugin-registry.ts', import.meta.url).href)});
    await import(${JSON.stringify(new URL('./phases.ts', import.meta.url).href)});
    await import(${JSON.stringify(new URL('./instances.ts', import.meta.url).href)});
    const registry = await PluginRegistry.open(['bundled'], '.');
    await registry.load(${JSON.stringify([...bundledPlugins.keys()])});
    process.stdout.write(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const loaded: string[] = JSON.parse(stdout);
  assert.ok(loaded.some((url) => url.endsWith('/plugins/cors/handler.ts')));
  assert.deepEqual(
    loaded.filter((url) => /\/node_modules\/zod\/|\/src\/schema\/|\/schema\.ts$/.test(url)),
    [],
  );
});

test('a plugin in one file does not load it in a worker either', async () => {
  const template = new URL('../../../packages/create-sluicegate-plugin/template/index.ts', import.meta.url);
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { PluginRegistry } = await import(${JSON.stringify(new URL('./plugin-registry.ts', import.meta.url).href)});
    const registry = await PluginRegistry.open([${JSON.stringify(fileURLToPath(template))}], process.cwd());
    await registry.load(['my-policy']);
    process.stdout.write(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const loaded: string[] = JSON.parse(stdout);
  assert.ok(
    loaded.some((url) => url.startsWith(template.href)),
    loaded.join(),
  );
  assert.deepEqual(
    loaded.filter((url) => /\/node_modules\/zod\/|\/schema\.ts$/.test(url)),
    [],
  );
});
