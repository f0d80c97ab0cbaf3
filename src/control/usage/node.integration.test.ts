import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { startRawBackend } from '../../../test/support/raw-backend.ts';
import { startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

interface Shown {
  readonly route: { readonly id: string; readonly name: string | null } | null;
  readonly service: { readonly name: string | null } | null;
  readonly consumer: { readonly username: string | null } | null;
  readonly version: string | null;
  readonly status: number;
  readonly node: string;
  readonly requests: number;
  readonly bytes_in: number;
  readonly bytes_out: number;
}

const ender = join(import.meta.dirname, '../../../test/support/plugins/ender.ts');

async function usage(gateway: TestGateway, query = ''): Promise<readonly Shown[]> {
  const { status, body } = await gateway.admin('GET', `/analytics/usage?from=2026-01-01&size=1000&${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body['data'] as readonly Shown[];
}

async function requestsOf(gateway: TestGateway): Promise<number> {
  return (await usage(gateway, 'group_by='))[0]?.requests ?? 0;
}

/** The status; 0 when the connection broke. Each on a connection of its own, so that every worker gets some. */
function ask(port: number, path = '/', headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  get({ host: '127.0.0.1', port, path, headers, agent: new Agent({ keepAlive: false }) }, (answer) => {
    answer.resume();
    answer.on('close', () => resolve(answer.statusCode ?? 0));
  }).on('error', () => resolve(0));
  return promise;
}

async function askTimes(times: number, port: number, path?: string): Promise<void> {
  const statuses = await Promise.all(Array.from({ length: times }, () => ask(port, path)));
  assert.ok(!statuses.includes(0));
}

test('usage is reported by route, service, consumer, version and status, summed over two workers', async () => {
  await using rig = await startRig({ settings: { workers: 2 }, route: { paths: ['/api'] } });
  const { gateway, port } = rig;
  await rig.write('POST', '/routes/all/plugins', { name: 'key-auth' });
  await rig.write('POST', '/routes/all/plugins', {
    name: 'api-versioning',
    config: { sources: ['header'], default: 'v1', versions: [{ name: 'v1' }, { name: 'v2' }] },
  });
  await rig.write('POST', '/consumers', { username: 'ada' });
  await rig.write('POST', '/consumers/ada/key-auth', { key: 'secret' });
  const kinds = [
    ['/api', { apikey: 'secret' }, 200],
    ['/api', { apikey: 'secret', 'x-api-version': 'v2' }, 200],
    ['/api', {}, 401],
    ['/nowhere', {}, 404],
  ] as const;
  for (const [at, [path, headers, status]] of kinds.entries()) {
    for (let time = 0; time <= at; time++) assert.equal(await ask(port, path, headers), status);
  }
  const rows = await usage(gateway, 'group_by=route,service,consumer,version,status');
  const shown = rows.map((row) =>
    [row.route?.name, row.service?.name, row.consumer?.username, row.version, row.status, row.requests].join(),
  );
  assert.deepEqual(
    shown.toSorted(),
    ['all,backend,ada,v1,200,1', 'all,backend,ada,v2,200,2', 'all,backend,,,401,3', ',,,,404,4'].toSorted(),
  );
  for (const row of rows) assert.ok(row.bytes_in > row.requests * 50 && row.bytes_out > row.requests * 20);

  // Both keep their names when they are no longer there.
  await rig.write('DELETE', '/consumers/ada');
  await rig.write('DELETE', '/routes/all');
  const [kept] = await usage(gateway, 'group_by=route,consumer&consumer=ada&route=all');
  assert.deepEqual([kept?.route?.name, kept?.consumer?.username, kept?.requests], ['all', 'ada', 3]);
});

test('nothing is lost or counted twice, also when a worker dies and during constant reads', async () => {
  await using rig = await startRig({ settings: { workers: 2, plugins: ['bundled', ender] } });
  const { gateway, port } = rig;
  await rig.write('POST', '/plugins', { name: 'ender' });
  let counted = 0;
  let reading = true;
  const reads = (async () => {
    while (reading) assert.ok((await requestsOf(gateway)) <= counted + 50);
  })();
  for (let round = 0; round < 6; round++) {
    await askTimes(40, port);
    counted += 40;
    if (round % 2 === 1) {
      // Only its requests in flight are lost.
      assert.equal(await ask(port, '/', { 'x-end-worker': '1' }), 0);
      await until(async () => (await gateway.admin('GET', '/')).status === 200 && (await workersOf(gateway)) === 2);
    }
  }
  reading = false;
  await reads;
  assert.equal(await requestsOf(gateway), counted);
});

async function workersOf(gateway: TestGateway): Promise<number> {
  const { body } = await gateway.admin('GET', '/');
  return (body['pids'] as { workers: readonly number[] }).workers.length;
}

test('usage is kept over a restart, and counting continues', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-analytics-'));
  try {
    for (const [graceful, before] of [
      [true, 0],
      [false, 5],
    ] as const) {
      await using rig = await startRig({ settings: { prefix } });
      assert.equal(await requestsOf(rig.gateway), before);
      await askTimes(5, rig.port);
      assert.equal(await requestsOf(rig.gateway), before + 5);
      await rig.gateway.gateway.stop(graceful);
    }
    await using rig = await startRig({ settings: { prefix } });
    for (const resolution of ['minute', 'hour', 'day']) {
      const from = `from=${Math.floor(Date.now() / 1000) - 3600}`;
      const { body } = await rig.gateway.admin('GET', `/analytics/usage?${from}&resolution=${resolution}&group_by=`);
      assert.equal((body['data'] as Shown[])[0]?.requests, 10, resolution);
    }
    const [row] = await usage(rig.gateway, 'group_by=route,service');
    assert.deepEqual([row?.route?.name, row?.service?.name], ['all', 'backend']);
  } finally {
    await rm(prefix, { recursive: true, force: true });
  }
});

test('nothing is counted when it is off', async () => {
  await using rig = await startRig({ env: { SLUICEGATE_ANALYTICS: 'off' } });
  assert.equal(await ask(rig.port), 200);
  assert.equal((await rig.gateway.admin('GET', '/analytics/usage')).status, 404);
});

test('two nodes of one PostgreSQL see the usage of both', { skip: skipWithoutPostgres() }, async () => {
  const server = await startPostgres();
  const pg = postgresSettings(server);
  const backend = await startRawBackend();
  const nodes: TestGateway[] = [];
  try {
    nodes.push(await startTestGateway({ settings: { database: 'postgres', pg } }));
    nodes.push(await startTestGateway({ settings: { database: 'postgres', pg } }));
    const [one, two] = nodes as [TestGateway, TestGateway];
    assert.equal((await one.admin('PUT', '/services/backend', { url: backend.url })).status, 200);
    assert.equal((await one.admin('PUT', '/services/backend/routes/all', { paths: ['/'] })).status, 200);
    await until(async () => (await ask(two.proxyPort)) === 200);
    const waited = await requestsOf(two);
    await askTimes(5, one.proxyPort);
    await askTimes(7, two.proxyPort);
    assert.deepEqual([await requestsOf(one), await requestsOf(two)], [5, 7 + waited]);
    // A node writes its counts when the minute is over, and when it stops.
    await one.stop();
    assert.equal(await requestsOf(two), 12 + waited);
    assert.equal((await usage(two, 'group_by=node')).length, 2);
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    await backend.close();
    await server.stop();
  }
});
