import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { bundledPlugins } from '../../plugins/registry.ts';
import { loadPlugins } from './load-plugins.ts';

test('the catalog loads a schema when it is read, and no handler', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    let loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { loadPlugins } = await import(${JSON.stringify(new URL('./load-plugins.ts', import.meta.url).href)});
    const { createPluginCatalog } = await import(${JSON.stringify(new URL('./catalog.ts', import.meta.url).href)});
    const catalog = await createPluginCatalog(await loadPlugins(['bundled']));
    for (const name of catalog.names()) catalog.describe(name).scopes;
    const atFirst = loaded;
    loaded = [];
    const fields = [...catalog.describe('cors').config.fields.keys()];
    process.stdout.write(JSON.stringify({ atFirst, then: loaded, fields }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const { atFirst, then, fields } = JSON.parse(stdout) as Record<'atFirst' | 'then' | 'fields', string[]>;
  const inPlugins = (urls: readonly string[]) => urls.filter((url) => /\/src\/plugins\/[^/]+\//.test(url));
  assert.deepEqual(inPlugins(atFirst), []);
  assert.deepEqual(
    inPlugins(then).map((url) => url.split('/src/plugins/')[1]),
    ['cors/schema.ts'],
  );
  assert.ok(fields.includes('origins'));
});

for (const [name, load] of bundledPlugins) {
  test(`what is known of ${name} before it is loaded is what it says itself`, async () => {
    const { default: plugin } = await load();
    const deferred = (await loadPlugins([name])).get(name);
    assert.ok(deferred !== undefined && deferred !== plugin);
    const facts = [
      'name',
      'version',
      'priority',
      'protocols',
      'defaultProtocols',
      'scopes',
      'hasZones',
      'hasBackground',
    ];
    for (const fact of facts) assert.deepEqual(Reflect.get(deferred, fact), Reflect.get(plugin, fact), fact);
    assert.equal(await deferred.loadSchema(), await plugin.loadSchema());
    assert.equal(await deferred.loadAdminRoutes(), await plugin.loadAdminRoutes());
    assert.equal(await deferred.loadBackground(), await plugin.loadBackground());
    assert.equal(await deferred.loadMetrics(), await plugin.loadMetrics());
    assert.deepEqual(await deferred.loadEntities(), await plugin.loadEntities());
  });
}
