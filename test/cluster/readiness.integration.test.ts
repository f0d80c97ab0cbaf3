import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { TestBackend } from '../support/backend.ts';
import { type Cluster, type ClusterNode, put, readiness, startCluster, statusOf } from '../support/cluster.ts';
import { skipWithoutPostgres } from '../support/postgres.ts';
import { startStallingProxy } from '../support/stalling-proxy.ts';
import { until } from '../support/until.ts';
import { startClusterBackend } from './cluster-backend.fixture.ts';

const skip = process.platform === 'linux' ? skipWithoutPostgres() : 'needs the loopback network of Linux';

describe('readiness in a cluster', { skip }, () => {
  let backend: TestBackend;
  let cluster: Cluster;
  let first: ClusterNode;
  let second: ClusterNode;

  before(async () => {
    backend = await startClusterBackend();
    cluster = await startCluster({ nodes: 2, env: { KONG_PG_TIMEOUT: '2000' } });
    [first, second] = [cluster.node(0), cluster.node(1)];
    assert.equal(await put(first, '/services/s', { url: backend.url }), 200);
  });

  after(async () => {
    await cluster[Symbol.asyncDispose]();
    await backend.close();
  });

  async function addRoute(name: string): Promise<void> {
    assert.equal(await put(first, `/services/s/routes/${name}`, { paths: [`/${name}`] }), 200);
  }

  /** Ends the second node, whose copy then has the route `/<name>-kept`, and adds the route `/<name>-new`. */
  async function stopAndAdd(name: string): Promise<void> {
    await addRoute(`${name}-kept`);
    await until(async () => (await statusOf(second, `/${name}-kept`)) === 200);
    await second.stop();
    await addRoute(`${name}-new`);
  }

  test('a node with a copy, because the database hangs, is ready when it has the config of the cluster', async () => {
    await stopAndAdd('hang');
    cluster.postgres.freeze();
    try {
      await second.start({ SLUICEGATE_LAST_GOOD_WAIT: '60s' });
      assert.match(second.process.output(), /uses the last good config/);
      assert.equal(await statusOf(second, '/hang-kept'), 200);
      assert.deepEqual(await readiness(second), {
        status: 503,
        message: 'the config is the last good one; waiting for the current one',
      });
      assert.equal((await readiness(first)).status, 200, 'a node that runs stays ready');
    } finally {
      cluster.postgres.thaw();
    }
    await until(async () => (await readiness(second)).status === 200, 20_000);
    assert.equal(await statusOf(second, '/hang-new'), 200);
  });

  test('a node with a copy, while the database is down, is ready after last_good_wait', async () => {
    await stopAndAdd('down');
    await cluster.postgres.crash();
    try {
      await second.start({ SLUICEGATE_LAST_GOOD_WAIT: '500ms' });
      await until(async () => (await readiness(second)).status === 200);
      assert.equal(await statusOf(second, '/down-kept'), 200);
      assert.equal(await statusOf(second, '/down-new'), 404);
      assert.match(second.process.output(), /ready with the last good config, which may be old/);
    } finally {
      await cluster.postgres.restart();
    }
    await until(async () => (await statusOf(second, '/down-new')) === 200, 20_000);
  });

  test('a node whose database hangs after its first answers starts from its copy', async () => {
    await stopAndAdd('silent');
    await using proxy = await startStallingProxy(cluster.postgres, { stallAt: '"routes"' });
    await second.start({ KONG_PG_PORT: String(proxy.port), SLUICEGATE_LAST_GOOD_WAIT: '0s' });
    assert.match(second.process.output(), /uses the last good config/);
    assert.equal((await readiness(second)).status, 200);
    assert.equal(await statusOf(second, '/silent-kept'), 200);
    await second.kill();
    await second.start();
  });

  test('a node routes what others write while notifications do not arrive', async () => {
    const { host, port, user, password, database } = cluster.postgres;
    const client = new pg.Client({ host, port, user, password, database });
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(
      "select pid from pg_stat_activity where query ilike 'listen%' and pid <> pg_backend_pid()",
    );
    await client.end();
    assert.ok(rows.length >= 2, `${rows.length} connections listen`);
    for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
    try {
      await addRoute('unnotified');
      await until(async () => (await statusOf(second, '/unnotified')) === 200);
    } finally {
      for (const { pid } of rows) process.kill(pid, 'SIGCONT');
    }
  });
});
