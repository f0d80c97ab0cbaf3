import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Parts of a worker that its settings and its config ask for. */
const unused: readonly (readonly [what: string, modules: RegExp])[] = [
  [
    'HTTP/2, for listeners and services that speak it',
    /\/src\/(data|shared)\/http2\/(?!load-|address-budgets|budget-table)/,
  ],
  ['limits', /\/src\/shared\/limits\//],
  ['clients of Redis', /\/src\/shared\/redis\//],
  ['streams', /\/src\/data\/stream\//],
  ['plugins', /\/src\/plugins\/[^/]+\/[^/]+\.ts$/],
];

test('a worker waits for its config without the parts that only some configs use', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(new URL('./data-plane-worker.ts', import.meta.url).href)});
    process.stdout.write(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const loaded: readonly string[] = JSON.parse(stdout);
  assert.ok(loaded.some((url) => url.endsWith('/data/http1/downstream-connection.ts')));
  for (const [what, pattern] of unused) {
    assert.deepEqual(
      loaded.filter((url) => pattern.test(url)),
      [],
      what,
    );
  }
});
