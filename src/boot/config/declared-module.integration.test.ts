import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBackend } from '../../../test/support/backend.ts';
import { startTestGateway } from '../../../test/support/gateway.ts';
import { untilPasses } from '../../../test/support/until.ts';

test('a node without a database starts with a config in TypeScript, and follows its changes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'declared-module-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  await using backend = await startBackend();
  const file = join(folder, 'sluicegate.config.ts');
  const write = (path: string): void =>
    writeFileSync(
      file,
      `import { defineConfig } from 'sluicegate';
       export default defineConfig({
         services: [{ name: 'a', url: '${backend.url}', routes: [{ name: 'a', paths: ['${path}'] }] }],
       });`,
    );
  write('/first');
  const settings = { database: 'off', declarative: { file, text: null, watch: true } } as const;
  const gateway = await startTestGateway({ settings });
  t.after(() => gateway.stop());
  const status = async (path: string): Promise<number> => (await fetch(`${gateway.proxyUrl}${path}`)).status;
  assert.equal(await status('/first'), 200);
  write('/second');
  await untilPasses(async () => assert.equal(await status('/second'), 200));
  assert.equal(await status('/first'), 404);
  writeFileSync(file, 'export default {\n  services: [\n');
  await untilPasses(() =>
    assert.match(
      readFileSync(join(gateway.prefix, 'error.log'), 'utf8'),
      /sluicegate\.config\.ts: .*sluicegate\.config\.ts:\d+:\d+/,
    ),
  );
  assert.equal(await status('/second'), 200);
});
