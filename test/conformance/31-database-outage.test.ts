import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type Cluster, type ClusterNode, put, readiness, startCluster, statusOf } from '../support/cluster.ts';
import { Clients, http1 } from '../support/load-clients.ts';
import { createPartition, type Partition } from '../support/partition.ts';
import { skipWithoutPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.ts';
import { skipWithoutPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const skip =
  process.platform === 'linux'
    ? skipWithoutPostgres() || skipWithoutPgBouncer()
    : 'needs the loopback network of Linux';

/** `pg_timeout`; the outages are longer than it and all that follows from it. */
const timeout = 1_500;
const outage = 4_000;
/** Milliseconds for the answer to a write that cannot reach the database. */
const refusal = 6_000;
const limit = 40;

/** Three nodes: one next to PostgreSQL, one behind PgBouncer in transaction mode, one whose link to PostgreSQL can be cut. */
describe('Case 31: the database is unavailable', { skip }, () => {
  let partition: Partition;
  let pooler: TestPgBouncer;
  let cluster: Cluster;
  let backend: TestBackend;
  let direct: ClusterNode;
  let pooled: ClusterNode;
  let remote: ClusterNode;
  let serial = 0;

  before(async () => {
    partition = createPartition();
    cluster = await startCluster({
      nodes: 3,
      databaseAddresses: partition.databaseAddress === null ? [] : [partition.databaseAddress],
      env: { KONG_PG_TIMEOUT: String(timeout), SLUICEGATE_LAST_GOOD_WAIT: '500ms' },
      async place(at, postgres) {
        if (at === 0) return null;
        if (at === 1) {
          pooler = await startPgBouncer(postgres, 'transaction');
          return { database: pooler.server };
        }
        const { host, through } = partition;
        const database = await partition.database(postgres.port);
        return { through, database, ...(host === undefined ? {} : { host }) };
      },
    });
    backend = await startBackend({
      host: partition.machine,
      handler: (request, response) => {
        request.resume();
        response.end(request.url);
      },
    });
    [direct, pooled, remote] = [cluster.node(0), cluster.node(1), cluster.node(2)];
    assert.equal(await put(direct, '/services/echo', { url: backend.url }), 200);
    await addRoute('echo');
    assert.equal(await put(direct, '/services/echo/routes/limited', { paths: ['/limited'] }), 200);
    const config = { year: limit, policy: 'cluster', limit_by: 'service' };
    const plugin = '/routes/limited/plugins/31f0a90e-58c2-4a5c-8f4e-5a0c4d1d8a31';
    assert.equal(await put(direct, plugin, { name: 'rate-limiting', config }), 200);
    await untilRouted('echo');
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await pooler?.stop();
    await backend?.close();
    await partition?.[Symbol.asyncDispose]();
  });

  async function addRoute(name = `route-${++serial}`, by = direct): Promise<string> {
    assert.equal(await put(by, `/services/echo/routes/${name}`, { paths: [`/${name}`] }), 200);
    return name;
  }

  async function untilRouted(name: string, nodes: readonly ClusterNode[] = cluster.nodes): Promise<void> {
    for (const node of nodes) await until(async () => (await statusOf(node, `/${name}`)) === 200, 20_000);
  }

  /** A write fails in time, and says why. */
  async function assertRefuses(node: ClusterNode): Promise<void> {
    const begun = performance.now();
    const response = await fetch(`${node.adminUrl}/services/refused`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: backend.url }),
    });
    const took = performance.now() - begun;
    const { message } = (await response.json()) as { message: string };
    assert.equal(response.status, 503, message);
    assert.match(message, /database|store|PostgreSQL/i);
    assert.ok(Number(response.headers.get('retry-after')) > 0);
    assert.ok(took < refusal, `${Math.round(took)} ms`);
  }

  /** Requests to these nodes while `work` runs: none may fail, and memory stays flat. */
  async function underLoad(nodes: readonly ClusterNode[], work: () => Promise<void>): Promise<void> {
    using clients = new Clients();
    const agents = nodes.map(() => new Agent({ keepAlive: true, maxSockets: 2 }));
    for (const [at, node] of nodes.entries())
      clients.add(node.name, 2, () => http1(node.proxyPort, agents[at] ?? false, '/echo', node.host));
    await clients.progress(20);
    const before = nodes.map(residentMemory);
    await work();
    await clients.progress(5);
    assert.deepEqual(await clients.stop(), []);
    for (const agent of agents) agent.destroy();
    for (const [at, node] of nodes.entries()) {
      const grown = residentMemory(node) - (before[at] ?? 0);
      assert.ok(grown < 64 * 1024 * 1024, `${node.name} has grown by ${Math.round(grown / 1024 / 1024)} MB`);
    }
  }

  it('is killed under load: nodes serve, one restarts and serves, writes are refused in time, all catch up', async () => {
    const { postgres } = cluster;
    await underLoad([direct, remote], async () => {
      // A node writes its copy within a second of a change.
      await until(() => lastGoodOf(pooled).includes('"/limited"'));
      await pooled.kill();
      const name = await addRoute();
      await untilRouted(name, [direct, remote]);
      await postgres.crash();
      try {
        const ended = wait(outage);
        await pooled.start();
        await until(async () => (await readiness(pooled)).status === 200);
        assert.equal(await statusOf(pooled, '/echo'), 200);
        await Promise.all([direct, pooled, remote].map(assertRefuses));
        for (const node of [direct, remote]) assert.equal((await readiness(node)).status, 200);
        await ended;
      } finally {
        await postgres.restart();
      }
      await untilRouted(name);
    });
    await untilRouted(await addRoute(undefined, pooled));
  });

  it('hangs under load: the same', async () => {
    const { postgres } = cluster;
    await underLoad(cluster.nodes, async () => {
      postgres.freeze();
      try {
        await Promise.all([wait(outage), ...cluster.nodes.map(assertRefuses)]);
        for (const node of cluster.nodes) assert.equal((await readiness(node)).status, 200);
      } finally {
        postgres.thaw();
      }
      await until(
        async () => (await put(direct, '/services/echo/routes/thawed', { paths: ['/thawed'] })) === 200,
        20_000,
      );
      await untilRouted('thawed');
    });
  });

  it('loses its pooler, which then hangs: only the node behind it waits for it', async () => {
    await underLoad(cluster.nodes, async () => {
      await pooler.crash();
      await assertRefuses(pooled);
      const name = await addRoute();
      await untilRouted(name, [direct, remote]);
      assert.equal(await statusOf(pooled, `/${name}`), 404);
      await pooler.restart();
      await untilRouted(name);
      pooler.freeze();
      const second = await addRoute();
      await Promise.all([wait(timeout * 2), assertRefuses(pooled)]);
      pooler.thaw();
      await untilRouted(second);
    });
  });

  it('drops the packets of one node: it serves with its config, the others follow edits, and it catches up', async (t) => {
    t.diagnostic(`the partition is ${partition.how}`);
    const passed = async (node: ClusterNode): Promise<number> => {
      let count = 0;
      while (count <= limit && (await statusOf(node, '/limited')) === 200) count++;
      return count;
    };
    await underLoad(cluster.nodes, async () => {
      partition.cut();
      const name = await addRoute();
      await untilRouted(name, [direct, pooled]);
      await Promise.all([wait(outage), assertRefuses(remote)]);
      assert.equal(await statusOf(remote, `/${name}`), 404, 'the link is cut');
      assert.equal((await readiness(remote)).status, 200);
      const [first, second, alone] = await Promise.all([passed(direct), passed(pooled), passed(remote)]);
      assert.ok(first + second <= limit, `${first} and ${second} of ${limit} passed where the database answers`);
      assert.ok(alone <= limit, `${alone} of ${limit} passed on the node without database`);
      partition.heal();
      await untilRouted(name);
    });
    await untilRouted(await addRoute(undefined, remote));
    assert.equal(await statusOf(direct, '/limited'), 429);
  });
});

function lastGoodOf({ prefix }: ClusterNode): string {
  const path = join(prefix, 'last-good.json');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function residentMemory({ process: { child } }: ClusterNode): number {
  const [, pages = '0'] = readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ');
  return Number(pages) * 4096;
}
