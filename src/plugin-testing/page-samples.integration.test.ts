import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('each sample of docs/plugin-testing.md passes, next to the plugin that it tests', async (t) => {
  const page = readFileSync(join(root, 'docs/plugin-testing.md'), 'utf8');
  const samples = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code as string);
  assert.ok(samples.length >= 8, `the page has ${samples.length} samples`);
  const folder = mkdtempSync(join(tmpdir(), 'plugin-testing-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of ['index.ts', 'schema.ts', 'handler.ts']) {
    cpSync(join(root, 'examples/plugins/hello', file), join(folder, file));
  }
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/sluicegate'), 'dir');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const files = samples.map((code, at) => {
    writeFileSync(join(folder, `sample-${at}.test.ts`), code);
    return `sample-${at}.test.ts`;
  });
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--conditions=sluicegate-source',
    '--test',
    '--test-concurrency=1',
  ];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const run = promisify(execFile)(process.execPath, [...flags, ...files], { cwd: folder, env, timeout: 130_000 });
  const { stdout } = await run.catch((error: { readonly stdout: string }) => assert.fail(error.stdout));
  assert.match(stdout, /fail 0/);
});
