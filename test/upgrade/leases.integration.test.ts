import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { isAlive, startNodeInPrefix } from '../support/node-in-prefix.ts';
import { until } from '../support/until.ts';

const skip = process.platform === 'linux' ? false : 'needs file descriptors of Linux';

const limit = 1500;

/** A new connection each: one of before still has its next response from the old process. */
async function pass(port: number): Promise<boolean> {
  const [response] = (await once(get({ port, host: '127.0.0.1', path: '/', agent: false }), 'response')) as [
    IncomingMessage,
  ];
  response.resume();
  await once(response, 'end');
  assert.ok(response.statusCode === 200 || response.statusCode === 429, String(response.statusCode));
  return response.statusCode === 200;
}

test('an upgrade under load gives back the leases of the old process: exactly the limit passes', {
  skip,
}, async () => {
  await using node = await startNodeInPrefix({ KONG_PROXY_ACCESS_LOG: 'off' }, { nginx_worker_processes: '2' });
  const port = node.port('proxy');
  await node.admin('PUT', '/routes/r', { paths: ['/'] });
  await node.admin('POST', '/plugins', { name: 'request-termination', config: { status_code: 200 } });
  await node.admin('POST', '/plugins', { name: 'rate-limiting', config: { year: limit, policy: 'cluster' } });
  let passed = 0;
  let full = false;
  let upgraded = false;
  const send = async (): Promise<void> => {
    while (!full || !upgraded) {
      if (await pass(port)) passed++;
      else full = true;
      // What is left is enough for the time of the upgrade.
      if (!upgraded) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const before = await node.pid();
  const clients = Array.from({ length: 4 }, send);
  const { code, output } = await node.run('upgrade');
  assert.equal(code, 0, output);
  assert.ok(!full, `${passed} passed during the upgrade`);
  upgraded = true;
  await Promise.all(clients);
  // It ends when it has no more requests, and gives back what it has left by then.
  await until(() => !isAlive(before));
  for (let last = performance.now(); performance.now() - last < 1500; ) {
    if (!(await pass(port))) continue;
    passed++;
    last = performance.now();
  }
  assert.equal(passed, limit);
});
