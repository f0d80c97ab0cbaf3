import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { addressesFileOf, preparePrefix } from '../../shared/settings/kinds/prefix.ts';
import { run } from '../run.ts';

test('health fails with the reason while the node is not ready', async () => {
  const prefix = mkdtempSync(join(tmpdir(), 'cli-health-'));
  preparePrefix(prefix);
  // A process that holds the prefix as a node does, and a status listener with the answer of the test.
  const pidFile = new URL('../node/pid-file.ts', import.meta.url).href;
  const hold = `import { claimPrefix } from '${pidFile}'; claimPrefix(process.argv[1]); console.log('held'); setInterval(() => {}, 1000);`;
  const node = spawn(process.execPath, ['--input-type=module', '-e', hold, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(node.stdout, 'data');
  let status = 503;
  let message = '1 of 2 workers are not responding';
  const listener = createServer((_request, response) => response.writeHead(status).end(JSON.stringify({ message })));
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const { port } = listener.address() as AddressInfo;
  try {
    const lines: string[] = [];
    const add = (text: string): void => void lines.push(text);
    const health = (): Promise<number> => run(['health', '-p', prefix], { env: {}, cwd: prefix, out: add, err: add });
    assert.equal(await health(), 1, 'a node that does not listen yet');
    assert.deepEqual(lines.splice(0), [`Error: Sluicegate is not ready at ${prefix}: it is still starting`]);
    const address = { ip: '0.0.0.0', port, ssl: false, proxyProtocol: false };
    writeFileSync(addressesFileOf(prefix), JSON.stringify({ status: [{ ...address, ssl: true, port: 1 }, address] }));
    assert.equal(await health(), 1);
    assert.deepEqual(lines.splice(0), [`Error: Sluicegate is not ready at ${prefix}: ${message}`]);
    [status, message] = [200, 'ready'];
    assert.equal(await health(), 0);
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
    lines.length = 0;
    assert.equal(await health(), 1);
    assert.match(lines.join('\n'), /not ready at .*: the status listener does not answer/);
  } finally {
    listener.close();
    const ended = once(node, 'exit');
    node.kill('SIGKILL');
    await ended;
    rmSync(prefix, { recursive: true, force: true });
  }
});
