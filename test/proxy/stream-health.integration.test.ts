import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { it } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { activeChecks } from '../support/health-rig.ts';
import { startRawBackend } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { startStreamRig } from '../support/stream-rig.ts';
import { until } from '../support/until.ts';

it('streams and TCP probes decide the health of targets', async () => {
  const backend = await startRawBackend(({ socket }) => void socket.end('steady'));
  const port = await freePort();
  const target = `127.0.0.1:${port}`;
  const server = createServer((socket) => socket.on('error', () => {}).end('coming'));
  await using rig = await startStreamRig(['']);
  try {
    const passive = { unhealthy: { tcp_failures: 2 }, healthy: { successes: 1 } };
    await rig.write('PUT', '/upstreams/pool', { healthchecks: { passive } });
    await rig.write('POST', '/upstreams/pool/targets', { target });
    await rig.write('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${backend.port}` });
    await rig.route('pool', { host: 'pool', retries: 3 }, { destinations: [{ port: rig.ports[0] }] });
    const stream = async (): Promise<string> => {
      using client = await openClient(rig.ports[0]!);
      return (await client.readToEnd()).text;
    };
    const health = async (): Promise<unknown> => {
      const { data } = (await rig.write('GET', '/upstreams/pool/health')) as {
        data: { target: string; health: string }[];
      };
      return data.find((each) => each.target === target)?.health;
    };
    // Every other stream tries the closed target first; the second one exceeds the limit.
    for (let count = 0; count < 4; count++) assert.equal(await stream(), 'steady');
    assert.equal(await health(), 'UNHEALTHY');
    await rig.write('PATCH', '/upstreams/pool', { healthchecks: activeChecks({ type: 'tcp' }) });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await until(async () => (await health()) === 'HEALTHY');
    assert.deepEqual(new Set([await stream(), await stream()]), new Set(['steady', 'coming']));
  } finally {
    if (server.listening) server.close();
    await backend.close();
  }
});
