import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { freePort } from '../support/free-port.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { skipWithoutRedis } from '../support/redis.ts';
import { startSentinel, type TestSentinel } from '../support/redis-sentinel.ts';
import { until } from '../support/until.ts';

const timeout = 1000;
const secret = 'sentinel-secret';

describe('a master that Sentinels name', { skip: skipWithoutRedis() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-sentinel-log-'));
  const log = join(folder, 'error.log');
  let sentinel: TestSentinel;
  let backend: TestBackend;
  let gateway: TestGateway;
  let names = 0;

  before(async () => {
    sentinel = await startSentinel({ password: secret });
    backend = await startBackend({
      handler: (_, response) => void response.setHeader('content-type', 'text/plain').end('fine'),
    });
    gateway = await startTestGateway({
      settings: { plugins: ['rate-limiting', 'proxy-cache'], workers: 2 },
      env: { KONG_PROXY_ERROR_LOG: log },
    });
    const service = await gateway.admin('POST', '/services', { name: 's', url: backend.url });
    assert.equal(service.status, 201);
  });
  after(async () => {
    await gateway?.stop();
    await backend?.close();
    await sentinel?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function redis(more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    const { host, port, name } = sentinel;
    return {
      sentinel_master: name,
      sentinel_role: 'master',
      sentinel_nodes: [{ host, port }],
      sentinel_password: secret,
      timeout,
      ...more,
    };
  }

  async function route(plugin: string, config: Readonly<Record<string, unknown>>): Promise<string> {
    const name = `r${++names}`;
    const answers = [
      await gateway.admin('POST', '/services/s/routes', { name, paths: [`/${name}`] }),
      await gateway.admin('POST', `/routes/${name}/plugins`, { name: plugin, config: { redis: redis(), ...config } }),
    ];
    for (const { status, body } of answers) assert.equal(status, 201, JSON.stringify(body));
    return `/${name}`;
  }

  async function get(path: string): Promise<Response> {
    const answer = await fetch(`${gateway.proxyUrl}${path}`, { headers: { connection: 'close' } });
    await answer.arrayBuffer();
    return answer;
  }

  async function statuses(path: string, requests: number): Promise<readonly number[]> {
    return (await Promise.all(Array.from({ length: requests }, () => get(path)))).map(({ status }) => status);
  }

  const count = (all: readonly number[], status: number): number => all.filter((one) => one === status).length;

  it('counts exactly', async () => {
    const path = await route('rate-limiting', { policy: 'redis', year: 20 });
    const all = await statuses(path, 60);
    assert.deepEqual([count(all, 200), count(all, 429)], [20, 40]);
  });

  it('is found although another Sentinel is down and another does not know it', async () => {
    const { host, port } = sentinel;
    const [replica] = sentinel.servers;
    const nodes = [
      { host, port: await freePort() },
      { host, port: replica.port },
      { host, port },
    ];
    const path = await route('rate-limiting', { policy: 'redis', year: 2, redis: redis({ sentinel_nodes: nodes }) });
    assert.equal(count(await statuses(path, 10), 200), 2);
  });

  it('is replaced when it is killed: requests never wait longer than the timeout, and limits apply again', async () => {
    const limited = await route('rate-limiting', { policy: 'redis', year: 3 });
    // A lock that was copied to the replica and cannot be released is waited for.
    const cached = await route('proxy-cache', { strategy: 'redis', coalescing_wait: 0.5 });
    assert.equal(count(await statuses(limited, 6), 200), 3);
    await get(cached);
    const [master, replica] = sentinel.servers;
    await master.kill();
    const begun = performance.now();
    await until(async () => {
      const before = performance.now();
      const answers = await Promise.all([get(limited), get(cached)]);
      assert.ok(performance.now() - before < 2 * timeout, `${performance.now() - before} ms`);
      for (const { status } of answers) assert.ok(status === 200 || status === 429, `${status}`);
      return answers[0].headers.has('x-ratelimit-limit-year') && sentinel.masterPort() === replica.port;
    }, 20_000);
    // The Sentinel needs about 1 s, and a worker at most 2 s more to try again.
    assert.ok(performance.now() - begun < 15_000, `${performance.now() - begun} ms`);
    await until(async () => count(await statuses(limited, 8), 429) === 8);
    await until(async () => (await get(cached)).headers.get('x-cache-status') === 'Hit');
    assert.notEqual(replica.command('DBSIZE'), '0');
    await master.restart();
  });

  it('is left when it hangs and is replaced, also after it is back', async () => {
    const path = await route('rate-limiting', { policy: 'redis', year: 1000 });
    const counted = async (): Promise<boolean> => (await get(path)).headers.has('x-ratelimit-limit-year');
    await until(counted);
    const old = sentinel.servers.find(({ port }) => port === sentinel.masterPort());
    const other = sentinel.servers.find((server) => server !== old);
    assert.ok(old !== undefined && other !== undefined);
    old.hang();
    await until(() => sentinel.masterPort() === other.port, 20_000);
    await until(counted);
    old.resume();
    await until(counted);
    await until(() => other.command('CLIENT', 'LIST').includes('name=sluicegate'));
  });

  it('is not found with a wrong password, which is in no log', async () => {
    const wrong = 'wrong-secret';
    const path = await route('rate-limiting', {
      policy: 'redis',
      year: 5,
      fault_tolerant: false,
      redis: redis({ sentinel_password: wrong }),
    });
    const answer = await fetch(`${gateway.proxyUrl}${path}`);
    assert.equal(answer.status, 500);
    assert.doesNotMatch(await answer.text(), /secret|WRONGPASS|127\.0\.0\.1/);
    await until(() => /Sentinel 127\.0\.0\.1:\d+: WRONGPASS/.test(readFileSync(log, 'utf8')));
    assert.doesNotMatch(readFileSync(log, 'utf8'), /-secret/);
  });

  it('needs all its fields, and the role of a master', async () => {
    const { host, port } = sentinel;
    const nodes = [{ host, port }];
    const refusals: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
      [{ sentinel_master: 'm' }, /all or none of these fields must be set/],
      [{ sentinel_master: 'm', sentinel_role: 'slave', sentinel_nodes: nodes }, /a replica accepts no writes/],
      [
        { sentinel_master: 'm', sentinel_role: 'any', sentinel_nodes: nodes, cluster_nodes: [{ ip: host, port }] },
        /only one or none of these fields must be set/,
      ],
      [{ cluster_nodes: [{ ip: host, port }], database: 1 }, /must be 0 with cluster_nodes/],
      [{}, /required field missing/],
    ];
    for (const [fields, message] of refusals) {
      const config = { policy: 'redis', year: 5, redis: fields };
      const answer = await gateway.admin('POST', '/services/s/plugins', { name: 'rate-limiting', config });
      assert.deepEqual(
        [answer.status, message.test(JSON.stringify(answer.body))],
        [400, true],
        JSON.stringify(answer.body),
      );
    }
  });
});
