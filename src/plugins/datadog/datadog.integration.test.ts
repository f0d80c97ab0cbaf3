import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { freePort } from '../../../test/support/free-port.ts';
import { startTestGateway } from '../../../test/support/gateway.ts';
import { runReadme } from '../../../test/support/readme-commands.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { type StatsdServer, startStatsdServer } from '../../../test/support/statsd-server.ts';
import { startStreamRig } from '../../../test/support/stream-rig.ts';
import { until } from '../../../test/support/until.ts';

let rig: Rig;
let agent: StatsdServer;

before(async () => {
  rig = await startRig({ settings: { plugins: ['datadog', 'key-auth'] } });
  agent = await startStatsdServer('dogstatsd');
  await rig.write('PUT', '/consumers/ada', { username: 'ada', custom_id: 'c|#x:y, kong.forged:1|c' });
  await rig.write('POST', '/consumers/ada/key-auth', { key: 'ada-key' });
  await rig.write('PUT', '/services/backend/routes/private', { paths: ['/private'] });
  await rig.write('POST', '/routes/private/plugins', { name: 'key-auth' });
});
afterEach(() => agent.forget());
after(async () => {
  await rig.close();
  await agent.close();
});

async function withDatadog(config: Readonly<Record<string, unknown>>, run: () => Promise<void>): Promise<void> {
  const { id } = await rig.write('POST', '/plugins', {
    name: 'datadog',
    config: { host: '127.0.0.1', port: agent.port, ...config },
  });
  try {
    await run();
  } finally {
    await rig.write('DELETE', `/plugins/${id}`);
  }
}

async function ask(path = '/', headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${rig.gateway.proxyUrl}${path}`, { signal: AbortSignal.timeout(5_000), headers });
  await response.arrayBuffer();
  return response.status;
}

test('sends the lines of a request in one datagram, with tags that clients cannot forge', async () => {
  await withDatadog({}, async () => {
    assert.equal(await ask('/private', { apikey: 'ada-key' }), 200);
    const metrics = await agent.lines(6);
    assert.equal(agent.packets.length, 1);
    const tags = { name: 'backend', status: '200', consumer: 'c__x_y__kong.forged_1_c', app: 'kong' };
    for (const metric of metrics) assert.deepEqual(metric.tags, tags);
    assert.deepEqual(
      metrics.map(({ name, type }) => [name, type]),
      [
        ['kong.request.count', 'c'],
        ['kong.latency', 'ms'],
        ['kong.request.size', 'ms'],
        ['kong.response.size', 'ms'],
        ['kong.upstream_latency', 'ms'],
        ['kong.kong_latency', 'ms'],
      ],
    );
    agent.forget();
    assert.equal(await ask('/private'), 401);
    assert.deepEqual((await agent.lines(5))[0]?.tags, { name: 'backend', status: '401', app: 'kong' });
  });
});

test('sends sample rates and distributions', async () => {
  const metrics = [{ name: 'latency', stat_type: 'distribution', sample_rate: 0.25 }];
  await withDatadog({ metrics, queue: { max_batch_size: 500, max_coalescing_delay: 0.05 } }, async () => {
    const total = 400;
    for (let turn = 0; turn < total / 20; turn++) await Promise.all(Array.from({ length: 20 }, () => ask()));
    let seen = -1;
    // The last lines wait for the delay of the queue.
    await until(() => {
      const before = seen;
      seen = agent.metrics.length;
      return before === seen && seen > 30;
    });
    assert.ok(agent.metrics.every(({ rate, type }) => rate === 0.25 && type === 'd'));
    // Six standard deviations.
    assert.ok(Math.abs(seen - total / 4) < 52, `${seen} of ${total}`);
    assert.ok(agent.packets.every((packet) => packet.length <= 1432));
  });
});

test('an unavailable agent does not affect the traffic, and is logged', async () => {
  await withDatadog({ port: await freePort() }, async () => {
    await until(async () => {
      assert.equal(await ask(), 200);
      const { body } = await rig.gateway.admin('GET', '/status');
      const counts = (body['plugins'] as Record<string, Record<string, number>>)['datadog'] ?? {};
      return (counts['send_failures'] ?? 0) > 0;
    });
  });
});

test('accepts the examples of the README', async () => {
  await using own = await startTestGateway({ settings: { plugins: ['datadog'] } });
  assert.equal((await own.admin('PUT', '/services/users', { url: rig.backend.url })).status, 200);
  await runReadme(new URL('./README.md', import.meta.url), own);
});

test('reports streams', async () => {
  await using streams = await startStreamRig([''], { plugins: ['datadog'] });
  const echo = await startStatsdServer();
  await streams.route('echo', { port: echo.port }, { destinations: [{ port: streams.ports[0] }] });
  await streams.write('POST', '/services/echo/plugins', {
    name: 'datadog',
    protocols: ['tcp'],
    config: { host: '127.0.0.1', port: agent.port },
  });
  const client = connect(streams.ports[0] ?? 0, '127.0.0.1');
  client.end('twelve bytes');
  client.resume();
  await until(() => echo.packets.join('') === 'twelve bytes');
  await echo.close();
  const metrics = await agent.lines(5);
  assert.equal(metrics.find(({ name }) => name === 'kong.request.size')?.value, '12');
  assert.deepEqual(metrics[0]?.tags, { name: 'echo', status: '200', app: 'kong' });
});
