import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { skipWithoutRedis } from '../support/redis.ts';
import { startRedisCluster, type TestRedisCluster } from '../support/redis-cluster.ts';
import { until } from '../support/until.ts';

const timeout = 1000;

describe('a Redis Cluster', { skip: skipWithoutRedis() }, () => {
  let cluster: TestRedisCluster;
  let backend: TestBackend;
  let gateway: TestGateway;
  let names = 0;

  before(async () => {
    cluster = await startRedisCluster();
    backend = await startBackend({
      handler: (request, response) => {
        response.setHeader('content-type', 'text/plain');
        response.setHeader('surrogate-key', `all t${(request.url ?? '').length % 2}`);
        response.setHeader('x-kong-limit', 'video=1');
        response.end('fine');
      },
    });
    gateway = await startTestGateway({
      settings: { plugins: ['rate-limiting', 'response-ratelimiting', 'proxy-cache'], workers: 2 },
    });
    await created('/services', { name: 's', url: backend.url });
  });
  after(async () => {
    await gateway?.stop();
    await backend?.close();
    await cluster?.stop();
  });

  async function created(path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> {
    const answer = await gateway.admin('POST', path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  /** A route with the plugin: its path, and the id of the plugin. */
  async function route(plugin: string, config: Readonly<Record<string, unknown>>): Promise<readonly [string, string]> {
    const name = `r${++names}`;
    await created('/services/s/routes', { name, paths: [`/${name}`] });
    const seeds = cluster.nodes.map(({ host, port }) => ({ ip: host, port }));
    const redis = { cluster_nodes: seeds.slice(0, 2), timeout };
    const { id } = await created(`/routes/${name}/plugins`, { name: plugin, config: { redis, ...config } });
    return [`/${name}`, String(id)];
  }

  interface Taken {
    readonly status: number;
    readonly headers: Headers;
    readonly milliseconds: number;
  }

  async function get(path: string, client = 'a'): Promise<Taken> {
    const begun = performance.now();
    const answer = await fetch(`${gateway.proxyUrl}${path}`, { headers: { 'x-client': client, connection: 'close' } });
    await answer.arrayBuffer();
    return { status: answer.status, headers: answer.headers, milliseconds: performance.now() - begun };
  }

  const byHeader = { policy: 'redis', limit_by: 'header', header_name: 'x-client' };
  const clients = Array.from({ length: 30 }, (_, at) => `client-${at}`);

  function keysOf(node: number, pattern: string): readonly string[] {
    return (cluster.nodes[node]?.command('KEYS', pattern) ?? '').split('\n').filter((key) => key !== '');
  }

  const entriesOf = (node: number, pattern: string): number => keysOf(node, pattern).length;

  /** Number of the node that counts this client, who has made a request. */
  function nodeOf(plugin: string, client: string): number {
    return cluster.nodes.findIndex((_, at) => entriesOf(at, `rate-limiting:${plugin}:*${client}`) === 1);
  }

  it('counts the clients exactly, on all nodes', async () => {
    const [path, id] = await route('rate-limiting', { ...byHeader, year: 5 });
    const answers = await Promise.all(clients.flatMap((client) => Array.from({ length: 10 }, () => get(path, client))));
    assert.equal(answers.filter(({ status }) => status === 200).length, clients.length * 5);
    assert.equal(answers.filter(({ status }) => status === 429).length, clients.length * 5);
    for (const at of cluster.nodes.keys()) assert.ok(entriesOf(at, `rate-limiting:${id}:*`) > 0, `node ${at}`);
  });

  it('counts costs of responses', async () => {
    const [path] = await route('response-ratelimiting', { policy: 'redis', limits: { video: { year: 3 } } });
    for (let at = 0; at < 3; at++) assert.equal((await get(path)).status, 200);
    assert.equal((await get(path)).status, 429);
  });

  it('exchanges counts at intervals', async () => {
    const [path, id] = await route('rate-limiting', { ...byHeader, year: 5, sync_rate: 0.05 });
    await Promise.all(clients.map((client) => get(path, client)));
    const counted = (): number =>
      cluster.nodes.reduce((sum, _, at) => sum + entriesOf(at, `{rate-limiting:${id}:*}/year/*`), 0);
    await until(() => counted() === clients.length);
    for (const at of cluster.nodes.keys()) assert.ok(entriesOf(at, `{rate-limiting:${id}:*`) > 0, `node ${at}`);
  });

  it('stores responses on all nodes, and purges them by key, tag and prefix', async () => {
    const [path, id] = await route('proxy-cache', { strategy: 'redis', content_type: ['*/*'] });
    const urls = Array.from({ length: 40 }, (_, at) => `${path}/${at % 20}${at < 20 ? '' : 'x'}`);
    const statuses = async (): Promise<readonly (string | null)[]> =>
      await Promise.all(urls.map(async (url) => (await get(url)).headers.get('x-cache-status')));
    assert.deepEqual(new Set(await statuses()), new Set(['Miss']));
    await until(async () => (await statuses()).every((status) => status === 'Hit'));
    for (const at of cluster.nodes.keys()) assert.ok(entriesOf(at, `*{${id}/*:e:*`) > 0, `node ${at}`);

    const key = (await get(urls[0] as string)).headers.get('x-cache-key');
    assert.equal((await gateway.admin('DELETE', `/proxy-cache/${id}/caches/${key}`)).status, 204);
    assert.deepEqual((await statuses()).filter((status) => status === 'Miss').length, 1);
    await until(async () => (await statuses()).every((status) => status === 'Hit'));

    const odd = urls.filter((url) => url.length % 2 === 1).length;
    const byTag = await gateway.admin('DELETE', `/proxy-cache?plugin=${id}&tag=t1`);
    // The backend sees the path without that of the route.
    assert.ok([odd, urls.length - odd].includes(Number(byTag.body['purged'])), JSON.stringify(byTag.body));
    assert.equal((await statuses()).filter((status) => status === 'Miss').length, byTag.body['purged']);
    await until(async () => (await statuses()).every((status) => status === 'Hit'));

    const prefix = encodeURIComponent(`${gateway.proxyUrl}${path}/1`);
    const byPrefix = await gateway.admin('DELETE', `/proxy-cache?plugin=${id}&prefix=${prefix}`);
    assert.equal(byPrefix.body['purged'], urls.filter((url) => url.startsWith(`${path}/1`)).length);
    const all = await gateway.admin('DELETE', `/proxy-cache?plugin=${id}&tag=all`);
    assert.equal(all.body['purged'], urls.length - Number(byPrefix.body['purged']));
  });

  it('counts exactly while the slot of a counter moves to another node', async () => {
    const [path, id] = await route('rate-limiting', { ...byHeader, year: 100, fault_tolerant: false });
    assert.equal((await get(path, 'mover')).status, 200);
    const from = nodeOf(id, 'mover');
    const slot = cluster.slotOf(keysOf(from, `rate-limiting:${id}:*`)[0] ?? '');
    const to = cluster.nodes[(from + 1) % cluster.nodes.length];
    assert.ok(to !== undefined);
    const statuses = [200];
    // More than the workers, so that each of them is redirected.
    const some = async (): Promise<void> => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => get(path, 'mover')));
      statuses.push(...answers.map(({ status }) => status));
    };
    await cluster.moveSlot(slot, to, some);
    for (let at = 0; at < 5; at++) await some();
    assert.equal(statuses.filter((status) => status === 200).length, 100);
    assert.equal(statuses.filter((status) => status === 429).length, statuses.length - 100);
    assert.equal(to.command('CLUSTER', 'COUNTKEYSINSLOT', String(slot)), '1');
  });

  it('a node that hangs delays and fails only its own keys, each worker waits once, and is used when it is back', async () => {
    const [path, id] = await route('rate-limiting', { ...byHeader, year: 2, fault_tolerant: false });
    for (const client of clients) assert.equal((await get(path, client)).status, 200);
    const hung = 0;
    const isHung = (client: string): boolean => nodeOf(id, client) === hung;
    const [own, others] = [clients.filter(isHung), clients.filter((client) => !isHung(client))];
    assert.ok(own.length > 0 && others.length > 0);
    cluster.nodes[hung]?.hang();
    try {
      const [failed, passed] = await Promise.all([
        Promise.all(own.map((client) => get(path, client))),
        Promise.all(others.map((client) => get(path, client))),
      ]);
      assert.deepEqual(new Set(failed.map(({ status }) => status)), new Set([500]));
      assert.deepEqual(new Set(passed.map(({ status }) => status)), new Set([200]));
      const slowest = Math.max(...passed.map(({ milliseconds }) => milliseconds));
      assert.ok(slowest < timeout * 0.8, `${slowest} ms for keys of other nodes`);
      assert.ok(failed.every(({ milliseconds }) => milliseconds < 2 * timeout));
      // Each worker knows of it by now, or learns it once more.
      await until(async () => (await get(path, own[0] as string)).milliseconds < timeout / 4);
    } finally {
      cluster.nodes[hung]?.resume();
    }
    await until(async () => (await get(path, own[0] as string)).status === 429);
    await until(async () => (await get(path, others[0] as string)).status === 429);
  });

  it('a node that is killed and comes back counts again', async () => {
    const [path, id] = await route('rate-limiting', { ...byHeader, year: 1000, fault_tolerant: true });
    const client = 'killer';
    assert.equal((await get(path, client)).status, 200);
    const node = cluster.nodes[nodeOf(id, client)];
    const counted = async (): Promise<boolean> => (await get(path, client)).headers.has('x-ratelimit-limit-year');
    assert.equal(await counted(), true);
    await node?.kill();
    assert.deepEqual([(await get(path, client)).status, await counted()], [200, false]);
    await node?.restart();
    await until(counted);
  });
});
