import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { freePort } from '../../../test/support/free-port.ts';
import { startTestGateway } from '../../../test/support/gateway.ts';
import { runReadme } from '../../../test/support/readme-commands.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { type StatsdDialect, type StatsdServer, startStatsdServer } from '../../../test/support/statsd-server.ts';
import { startStreamRig } from '../../../test/support/stream-rig.ts';
import { until } from '../../../test/support/until.ts';

let rig: Rig;
let server: StatsdServer;

before(async () => {
  rig = await startRig({ settings: { plugins: ['statsd', 'key-auth', 'rate-limiting'] } });
  server = await startStatsdServer();
  await rig.write('PUT', '/consumers/ada', { username: 'ada', custom_id: 'customer:1|c 7' });
  await rig.write('POST', '/consumers/ada/key-auth', { key: 'ada-key' });
});
afterEach(() => server.forget());
after(async () => {
  await rig.close();
  await server.close();
});

/** Runs with an instance of the plugin, and removes it. */
async function withStatsd(
  config: Readonly<Record<string, unknown>>,
  run: () => Promise<void>,
  at = '/plugins',
): Promise<void> {
  const { id } = await rig.write('POST', at, {
    name: 'statsd',
    config: { host: '127.0.0.1', port: server.port, ...config },
  });
  try {
    await run();
  } finally {
    await rig.write('DELETE', `/plugins/${id}`);
  }
}

async function ask(path = '/', init: RequestInit = {}): Promise<number> {
  const response = await fetch(`${rig.gateway.proxyUrl}${path}`, { signal: AbortSignal.timeout(5_000), ...init });
  await response.arrayBuffer();
  return response.status;
}

/** Datagrams without those about the memory of the node, which are sent at intervals. */
function ofRequests(): readonly string[] {
  return server.packets.filter((packet) => !packet.includes('.shdict.'));
}

async function counts(): Promise<Record<string, number>> {
  const { body } = await rig.gateway.admin('GET', '/status');
  return (body['plugins'] as Record<string, Record<string, number>>)['statsd'] ?? {};
}

test('sends each line of a request as a datagram if configured, with the measured values', async () => {
  await withStatsd({ udp_packet_size: 1 }, async () => {
    assert.equal(await ask('/', { method: 'POST', body: 'b'.repeat(2_000) }), 200);
    const metrics = await server.lines(8);
    assert.equal(ofRequests().length, 8);
    const of = (name: string) => metrics.find((metric) => metric.name === `kong.service.backend.${name}`);
    assert.deepEqual([of('request.count')?.value, of('request.count')?.type], ['1', 'c']);
    assert.equal(of('status.200')?.value, '1');
    assert.equal(of('latency')?.type, 'ms');
    assert.ok(Number(of('upstream_latency')?.value) >= 0);
    assert.ok(Number(of('request.size')?.value) > 2_000);
    assert.ok(Number(of('response.size')?.value) > 0);
  });
});

test('escapes hostile consumer names, and reports requests without a route', async () => {
  await rig.write('PUT', '/services/api.private', { url: rig.backend.url });
  await rig.write('PUT', '/services/api.private/routes/private', { paths: ['/private'] });
  await rig.write('POST', '/routes/private/plugins', { name: 'key-auth' });
  await withStatsd({}, async () => {
    assert.equal(await ask('/private', { headers: { apikey: 'ada-key' } }), 200);
    const metrics = await server.lines(12);
    assert.equal(ofRequests().length, 1);
    const users = metrics.filter(({ name }) => name.includes('.user.'));
    assert.deepEqual(
      users.map(({ name, value }) => [name.replace(/route\.[^.]*/, 'route.id'), value]),
      [
        ['kong.service.api_private.user.uniques', 'customer_1_c_7'],
        ['kong.service.api_private.user.customer_1_c_7.request.count', '1'],
        ['kong.service.api_private.user.customer_1_c_7.status.200', '1'],
        ['kong.route.id.user.customer_1_c_7.status.200', '1'],
      ],
    );
    server.forget();
    await rig.write('PATCH', '/routes/all', { paths: ['/all'] });
    assert.equal(await ask('/nowhere'), 404);
    await rig.write('PATCH', '/routes/all', { paths: ['/'] });
    assert.equal((await server.metric('kong.global.unmatched.status.404')).value, '1');
  });
});

test('fills datagrams up to their size with lines of several requests', async () => {
  const packetSize = 300;
  await withStatsd(
    { udp_packet_size: packetSize, queue: { max_batch_size: 5, max_coalescing_delay: 30 } },
    async () => {
      for (let turn = 0; turn < 5; turn++) await ask(`/?${turn}`);
      const metrics = await server.lines(40);
      assert.equal(metrics.filter(({ name }) => name.endsWith('request.count')).length, 5);
      assert.ok(ofRequests().length <= 10, `${ofRequests().length} datagrams`);
      assert.ok(server.packets.every((packet) => Buffer.byteLength(packet) <= packetSize));
    },
  );
});

test('applies a sample rate, and sends it', async () => {
  const metrics = [
    { name: 'request_count', stat_type: 'counter', sample_rate: 1 },
    { name: 'latency', stat_type: 'timer', sample_rate: 0.5 },
  ];
  await withStatsd({ metrics, udp_packet_size: 1432 }, async () => {
    const total = 400;
    for (let turn = 0; turn < total / 20; turn++) await Promise.all(Array.from({ length: 20 }, () => ask()));
    await until(() => server.metrics.filter(({ name }) => name.endsWith('request.count')).length === total);
    const sampled = server.metrics.filter(({ name }) => name.endsWith('latency'));
    assert.ok(sampled.every(({ rate }) => rate === 0.5));
    // Six standard deviations.
    assert.ok(Math.abs(sampled.length - total / 2) < 60, `${sampled.length} of ${total}`);
  });
});

for (const style of ['dogstatsd', 'influxdb', 'librato', 'signalfx'] as const) {
  test(`sends tags in the style of ${style}`, async () => {
    await using tagged = await startStatsdServer(style as StatsdDialect);
    await withStatsd({ port: tagged.port, tag_style: style, hostname_in_prefix: true }, async () => {
      await ask();
      const [metric] = await tagged.lines(8);
      assert.match(metric?.name ?? '', /^kong\.node\.[^.]+\.request\.count$/);
      assert.deepEqual(metric?.tags, { service: 'backend', route: 'all', workspace: 'default', status: '200' });
    });
  });
}

test('sends lines in order over one TCP connection, and reconnects', async () => {
  const metrics = [{ name: 'request_count', stat_type: 'counter', sample_rate: 1 }];
  await withStatsd({ use_tcp: true, metrics, queue: { initial_retry_delay: 0.01 } }, async () => {
    await ask();
    await ask();
    await server.lines(2);
    assert.equal(server.connections.size, 1);
    assert.match(server.packets.join(''), /^(kong\.service\.backend\.request\.count:1\|c\n){2}$/);
    for (const socket of server.connections) socket.destroy();
    await until(() => server.connections.size === 0);
    await until(async () => {
      await ask();
      return server.metrics.length >= 3;
    });
  });
});

test('an unavailable server or an unknown name does not affect the traffic', async () => {
  const port = await freePort();
  for (const config of [
    { port },
    { host: 'nobody.invalid' },
    { port, use_tcp: true, queue: { max_entries: 2, max_retry_time: 0 } },
  ]) {
    const before = await counts();
    await withStatsd(config, async () => {
      await until(async () => {
        assert.equal(await ask(), 200);
        const now = await counts();
        const grown = (name: string): boolean => (now[name] ?? 0) > (before[name] ?? 0);
        return grown('send_failures') || grown('datagrams_dropped') || grown('entries_dropped');
      });
    });
  }
});

test('reports the usage of the shared memory of the node', async () => {
  await rig.write('POST', '/routes/all/plugins', { name: 'rate-limiting', config: { minute: 1_000_000 } });
  const metrics = [{ name: 'shdict_usage', stat_type: 'gauge', sample_rate: 1 }];
  await withStatsd({ metrics, udp_packet_size: 1432 }, async () => {
    await until(() => server.metrics.some(({ name }) => name.endsWith('.capacity')));
    const of = (end: string) =>
      server.metrics.find(({ name }) => name.includes('.shdict.rate-limiting_') && name.endsWith(end));
    const [free, capacity] = [of('.free_space'), of('.capacity')];
    assert.match(capacity?.name ?? '', /^kong\.node\.[^.]+\.shdict\.[^.]+\.capacity$/);
    assert.equal(capacity?.type, 'g');
    assert.ok(Number(free?.value) > 0 && Number(free?.value) <= Number(capacity?.value));
  });
});

test('sends waiting lines when the instance is removed and when the node stops', async () => {
  const metrics = [{ name: 'request_count', stat_type: 'counter', sample_rate: 1 }];
  for (const use_tcp of [false, true]) {
    const waiting = { metrics, use_tcp, queue: { max_batch_size: 1000, max_coalescing_delay: 3600 } };
    await withStatsd(waiting, async () => {
      await ask();
      await ask();
    });
    assert.equal((await server.lines(2)).length, 2);
    server.forget();

    await using last = await startRig({ settings: { plugins: ['statsd'] } });
    await last.write('POST', '/plugins', {
      name: 'statsd',
      config: { host: '127.0.0.1', port: server.port, ...waiting },
    });
    await (await fetch(last.gateway.proxyUrl)).arrayBuffer();
    await last.gateway.gateway.stop(true);
    assert.equal((await server.lines(1)).length, 1);
    server.forget();
  }
});

test('accepts the examples of the README', async () => {
  await using own = await startTestGateway({ settings: { plugins: ['statsd'] } });
  assert.equal((await own.admin('PUT', '/services/users', { url: rig.backend.url })).status, 200);
  await runReadme(new URL('./README.md', import.meta.url), own);
});

test('reports streams', async () => {
  await using streams = await startStreamRig([''], { plugins: ['statsd'] });
  const echo = await startStatsdServer();
  await streams.route('echo', { port: echo.port }, { destinations: [{ port: streams.ports[0] }] });
  await streams.write('POST', '/services/echo/plugins', {
    name: 'statsd',
    protocols: ['tcp'],
    config: { host: '127.0.0.1', port: server.port },
  });
  const client = connect(streams.ports[0] ?? 0, '127.0.0.1');
  client.end('twelve bytes');
  client.resume();
  await until(() => echo.packets.join('') === 'twelve bytes');
  await echo.close();
  if (!client.closed) await once(client, 'close');
  const metrics = await server.lines(7);
  const value = (name: string) => metrics.find((metric) => metric.name === `kong.service.echo.${name}`)?.value;
  assert.deepEqual([value('request.count'), value('request.size'), value('status.200')], ['1', '12', '1']);
});
