import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { startBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { until } from '../../../test/support/until.ts';

interface ShownNode {
  readonly id: string;
  readonly role: string;
  readonly address: string;
  readonly state: string;
  readonly last_seen: number;
  readonly config_version: number;
  readonly lag: { readonly versions: number; readonly seconds: number } | null;
  readonly load: Readonly<Record<string, number>>;
  readonly unhealthy: readonly unknown[];
  readonly circuits: readonly { readonly plugin: string; readonly state: string }[];
}

interface Shown {
  readonly data: readonly ShownNode[];
  readonly total: number;
  readonly store_version: number;
  readonly stale: boolean;
  readonly age: number;
}

async function nodesOf(gateway: TestGateway): Promise<Shown> {
  const answer = await gateway.admin('GET', '/nodes');
  assert.equal(answer.status, 200);
  return answer.body as unknown as Shown;
}

const idOf = async (gateway: TestGateway): Promise<string> => String((await gateway.admin('GET', '/')).body['node_id']);

describe('the load of a node', () => {
  it('counts the requests in flight, and shows the age of the config', async () => {
    const held: ServerResponse[] = [];
    await using backend = await startBackend({ handler: (_request, response) => void held.push(response) });
    await using gateway = await startTestGateway();
    assert.equal((await gateway.admin('POST', '/services', { name: 's', url: backend.url })).status, 201);
    assert.equal((await gateway.admin('POST', '/services/s/routes', { paths: ['/'] })).status, 201);
    assert.equal((await gateway.admin('POST', '/plugins', { name: 'prometheus' })).status, 201);
    const load = async (): Promise<Readonly<Record<string, unknown>>> =>
      (await gateway.admin('GET', '/status')).body['load'] as Readonly<Record<string, unknown>>;
    const answers = [fetch(gateway.proxyUrl), fetch(gateway.proxyUrl), fetch(gateway.proxyUrl)];
    await until(() => held.length === 3);
    const { requests_in_flight: inFlight, event_loop_delay: delay, config_age: age } = await load();
    assert.deepEqual([inFlight, typeof delay, age], [3, 'number', 0]);
    const page = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    assert.match(page, /^sluicegate_requests_in_flight 3$/m);
    assert.match(page, /^sluicegate_worker_loop_delay_seconds\{worker="0"\} /m);
    assert.match(page, /^sluicegate_config_age_seconds 0$/m);
    for (const response of held) response.end();
    await Promise.all(answers);
    await until(async () => (await load())['requests_in_flight'] === 0);
  });
});

describe('GET /nodes', () => {
  it('shows a node with a store in a file, itself', async () => {
    await using gateway = await startTestGateway();
    const { data, total, stale, store_version: version } = await nodesOf(gateway);
    assert.equal(total, 1);
    assert.equal(stale, false);
    const [self] = data;
    assert.equal(self?.id, await idOf(gateway));
    assert.equal(self?.state, 'ready');
    assert.equal(self?.config_version, version);
    assert.deepEqual(self?.lag, { versions: 0, seconds: 0 });
    assert.equal(self?.address, `127.0.0.1:${gateway.proxyPort}`);
    assert.equal((await gateway.admin('GET', `/nodes/${self?.id}`)).body['id'], self?.id);
    assert.equal((await gateway.admin('GET', '/nodes/x')).status, 404);
  });

  it('shows circuits that are open and backends that are not used', async () => {
    await using backend = await startBackend({
      handler: (_request, response) => {
        response.statusCode = 500;
        response.end();
      },
    });
    await using gateway = await startTestGateway();
    const made = async (path: string, body: unknown): Promise<void> => {
      const { status, body: answer } = await gateway.admin('POST', path, body);
      assert.equal(status, 201, JSON.stringify(answer));
    };
    const passive = { unhealthy: { http_failures: 2, http_statuses: [500] } };
    await made('/upstreams', { name: 'shaky', healthchecks: { passive } });
    await made('/upstreams/shaky/targets', { target: `127.0.0.1:${backend.port}` });
    await made('/services', { name: 'shop', host: 'shaky' });
    await made('/services/shop/routes', { paths: ['/'] });
    await made('/plugins', { name: 'circuit-breaker', config: { consecutive_failures: 2 } });
    await until(async () => {
      await fetch(gateway.proxyUrl);
      const [self] = (await nodesOf(gateway)).data;
      return self?.unhealthy.length === 1 && self.circuits.length > 0;
    });
    const [self] = (await nodesOf(gateway)).data;
    assert.deepEqual(self?.unhealthy, [{ upstream: 'shaky', address: `127.0.0.1:${backend.port}` }]);
    const [circuit] = self?.circuits ?? [];
    assert.deepEqual([circuit?.plugin, circuit?.state], ['circuit-breaker', 'open']);
    assert.ok(self !== undefined && self.load['requests']! >= 2);
  });

  it('shows all nodes of a database, their config, and those that have ended', {
    skip: skipWithoutPostgres(),
  }, async () => {
    const server = await startPostgres();
    try {
      const settings = { database: 'postgres', pg: postgresSettings(server, 1000) } as const;
      await using first = await startTestGateway({ settings });
      const second = await startTestGateway({ settings });
      const ids = [await idOf(first), await idOf(second)].sort();
      for (const gateway of [first, second]) {
        await until(async () => (await nodesOf(gateway)).total === 2);
        assert.deepEqual(
          (await nodesOf(gateway)).data.map(({ id }) => id),
          ids,
        );
      }
      assert.equal((await first.admin('POST', '/services', { name: 'a', host: 'a.test' })).status, 201);
      await until(async () => {
        const { data, store_version: version } = await nodesOf(first);
        return data.every(({ config_version: own, lag }) => own === version && lag?.versions === 0);
      });

      const levelOf = async (gateway: TestGateway): Promise<unknown> =>
        (await gateway.admin('GET', '/debug/node/log-level')).body['message'];
      assert.equal((await first.admin('PUT', '/debug/cluster/log-level/error')).status, 200);
      await until(async () => (await levelOf(second)) === 'log level: error');
      assert.equal(await levelOf(first), 'log level: error');

      await server.crash();
      assert.equal((await first.admin('PUT', '/debug/cluster/log-level/warn')).status, 503);
      assert.equal(await levelOf(first), 'log level: error');
      const { data, stale, age } = await nodesOf(first);
      assert.equal(stale, true, 'the other entry is old');
      assert.ok(age >= 0);
      assert.deepEqual(
        data.map(({ id }) => id),
        ids,
      );
      await server.restart();
      await until(async () => !(await nodesOf(first)).stale);

      await second.gateway.stop(true, 0);
      assert.deepEqual(
        (await nodesOf(first)).data.map(({ id }) => id),
        [await idOf(first)],
        'it has said that it stops',
      );
      await second.stop();
    } finally {
      await server.stop();
    }
  });
});
