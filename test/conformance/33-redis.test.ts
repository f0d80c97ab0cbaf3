import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { skipWithoutRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

/** Case 33: Redis dies, hangs and comes back; the policy of the plugin decides, and limits are exact while Redis is available. */
describe('limits of two nodes in Redis', { skip: skipWithoutRedis() }, () => {
  let redis: TestRedis;
  let backend: TestBackend;
  let nodes: readonly TestGateway[];
  let limits = 0;

  before(async () => {
    redis = await startRedis();
    backend = await startBackend();
    const settings = { plugins: ['rate-limiting'], workers: 2 };
    nodes = [await startTestGateway({ settings }), await startTestGateway({ settings })];
    for (const node of nodes) await created(node, '/services', { name: 's', url: backend.url });
  });
  after(async () => {
    for (const node of nodes ?? []) await node.stop();
    await backend?.close();
    await redis?.stop();
  });

  async function created(node: TestGateway, path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    const answer = await node.admin('POST', path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  }

  /** A path with a limit that both nodes count together, since the plugin has the same id on both. */
  async function limited(config: Readonly<Record<string, unknown>>): Promise<string> {
    const name = `limit-${++limits}`;
    const id = `7f6b8c1e-0000-4000-8000-${String(limits).padStart(12, '0')}`;
    const server = { host: redis.host, port: redis.port, timeout: 1000 };
    for (const node of nodes) {
      await created(node, '/services/s/routes', { name, paths: [`/${name}`] });
      await created(node, `/routes/${name}/plugins`, {
        id,
        name: 'rate-limiting',
        config: { policy: 'redis', redis: server, ...config },
      });
    }
    return `/${name}`;
  }

  /** Statuses of so many requests at once, alternating between the nodes, each on its own connection. */
  function statuses(path: string, requests: number): Promise<readonly number[]> {
    return Promise.all(
      Array.from({ length: requests }, async (_, at) => {
        const answer = await fetch(`${nodes[at % nodes.length]?.proxyUrl}${path}`, {
          headers: { connection: 'close' },
        });
        await answer.arrayBuffer();
        return answer.status;
      }),
    );
  }

  async function passed(path: string, requests: number): Promise<number> {
    const all = await statuses(path, requests);
    assert.deepEqual(
      all.filter((status) => status !== 200 && status !== 429),
      [],
    );
    return all.filter((status) => status === 200).length;
  }

  async function all(path: string, requests: number, status: number): Promise<void> {
    const others = (await statuses(path, requests)).filter((one) => one !== status);
    assert.deepEqual(others, []);
  }

  it('accept exactly the limit of concurrent requests', async () => {
    assert.equal(await passed(await limited({ year: 60 }), 300), 60);
    assert.equal(await passed(await limited({ year: 60, window_type: 'sliding' }), 300), 60);
  });

  it('accept all requests with fault_tolerant while Redis hangs or is down, waiting at most once', async () => {
    const path = await limited({ year: 10 });
    assert.equal(await passed(path, 20), 10);
    redis.hang();
    // The kernel distributes connections: a worker that had none so far notices the outage later.
    const workers = 4;
    let waits = 0;
    await until(async () => {
      const begun = performance.now();
      await all(path, 40, 200);
      const quick = performance.now() - begun < 900;
      if (!quick) waits++;
      return quick;
    });
    assert.ok(waits >= 1 && waits <= workers, `requests waited ${waits} times for a server that hangs`);
    redis.resume();
    await until(async () => (await passed(path, 4)) === 0);
    await redis.kill();
    await all(path, 40, 200);
    await redis.restart();
    await until(async () => (await passed(path, 12)) === 0);
  });

  it('answer 500 without fault_tolerant, and do not mention Redis', async () => {
    const path = await limited({ year: 1000, fault_tolerant: false });
    await all(path, 8, 200);
    await redis.kill();
    try {
      await all(path, 8, 500);
      const answer = await fetch(`${nodes[0]?.proxyUrl}${path}`);
      assert.doesNotMatch(await answer.text(), /redis|127\.0\.0\.1|ECONN/i);
    } finally {
      await redis.restart();
    }
    await until(async () => (await statuses(path, 8)).every((status) => status === 200));
  });

  it('synchronise the nodes with sync_rate, and continue without Redis', async () => {
    const path = await limited({ year: 20, sync_rate: 0.05 });
    const [first] = nodes;
    const one = async () => (await fetch(`${first?.proxyUrl}${path}`)).headers.get('x-ratelimit-remaining-year');
    // The other node counts 8; this one receives them when it sends its own.
    await Promise.all(
      Array.from({ length: 8 }, async () => (await fetch(`${nodes[1]?.proxyUrl}${path}`)).arrayBuffer()),
    );
    await until(async () => Number(await one()) < 12);
    await redis.kill();
    assert.ok((await passed(path, 100)) <= 40);
    await redis.restart();
    await until(async () => (await passed(path, 4)) === 0);
  });
});
