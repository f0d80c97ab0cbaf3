import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBackend } from '../support/backend.ts';
import { Clients, http1 } from '../support/load-clients.ts';
import { startNodeInPrefix } from '../support/node-in-prefix.ts';

const example = join(import.meta.dirname, '../../examples/plugins/hello');

test('a reload takes new code of a plugin without a failed request, and says why it refuses code', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-plugin-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(example, folder, { recursive: true });
  const handler = join(folder, 'handler.ts');
  const source = readFileSync(handler, 'utf8');
  await using backend = await startBackend();
  await using node = await startNodeInPrefix({
    SLUICEGATE_PLUGINS: `bundled,${join(folder, 'index.ts')}`,
    KONG_NGINX_WORKER_PROCESSES: '2',
  });
  await node.admin('PUT', '/services/s', { url: backend.url });
  await node.admin('PUT', '/services/s/routes/r', { paths: ['/'] });
  await node.admin('POST', '/plugins', { name: 'hello' });
  const pid = await node.pid();
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  using clients = new Clients();
  clients.add('http', 8, () => http1(node.port('proxy'), agent));
  await clients.progress(50);

  writeFileSync(handler, `${source}\n// Another version.\n`);
  const live = await node.run('reload');
  assert.deepEqual([live.code, live.output], [0, 'Sluicegate reloaded\nnew code of plugins: hello\n']);
  const unchanged = await node.run('plugin', 'reload', '--observe', '1s');
  assert.deepEqual([unchanged.code, unchanged.output], [0, 'The code of the plugins has not changed\n']);

  writeFileSync(handler, `${source}\nconst = 1;\n`);
  const refused = await node.run('reload');
  assert.equal(refused.code, 1);
  assert.match(refused.output, new RegExp(`refused: .*\\(${handler}:\\d+:7\\); the settings are applied`));
  assert.deepEqual(await clients.stop(), []);
  assert.equal(await node.pid(), pid, 'it is the same process');
});
