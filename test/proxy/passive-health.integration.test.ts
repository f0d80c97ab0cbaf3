import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { freePort } from '../support/free-port.ts';
import { startTestGateway } from '../support/gateway.ts';
import { type HealthRig, type ShownTarget, startHealthRig } from '../support/health-rig.ts';
import { skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { openClient, type RawClient } from '../support/raw-client.ts';
import { testSettings } from '../support/settings.ts';
import { until } from '../support/until.ts';

/** A backend that answers with its name and a status that the test sets. */
async function namedBackend(name: string): Promise<TestBackend & { status: number; target: string }> {
  const backend = await startBackend({
    handler: (_, response) => {
      const body = `${name}\n`;
      response.writeHead(state.status, { 'Content-Length': body.length }).end(body);
    },
  });
  const state = Object.assign(backend, { status: 200, target: `127.0.0.1:${backend.port}` });
  return state;
}

function passive(unhealthy: object, healthy: object = {}): Record<string, unknown> {
  return { passive: { unhealthy, healthy } };
}

async function bodies(rig: HealthRig, count: number): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let done = 0; done < count; done++) seen.push((await rig.get()).body.trim());
  return seen;
}

async function ask(client: RawClient): Promise<{ status: number; body: string }> {
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const { status, body } = await client.readResponse();
  return { status, body: body.trim() };
}

/** Connections that reach all workers, almost certainly. */
async function openMany(rig: HealthRig): Promise<{ clients: readonly RawClient[] } & Disposable> {
  const clients = await Promise.all(Array.from({ length: 16 }, () => openClient(rig.gateway.proxyPort)));
  return {
    clients,
    [Symbol.dispose]: () => {
      for (const client of clients) client[Symbol.dispose]();
    },
  };
}

describe('passive health checks', () => {
  it('mark a target unhealthy after the limit of bad answers, until an operator resets it', async () => {
    await using bad = await namedBackend('bad');
    await using good = await namedBackend('good');
    await using rig = await startHealthRig({
      healthchecks: passive({ http_failures: 3 }),
      targets: [bad.target, good.target],
    });
    bad.status = 500;
    let failures = 0;
    for (let count = 0; count < 30; count++) if ((await rig.get()).status === 500) failures++;
    assert.equal(failures, 3);
    assert.deepEqual(await rig.health(), { [bad.target]: 'UNHEALTHY', [good.target]: 'HEALTHY' });
    bad.status = 200;
    assert.ok((await bodies(rig, 10)).every((body) => body === 'good'));
    await rig.write('PUT', `/upstreams/pool/targets/${bad.target}/healthy`);
    assert.ok((await bodies(rig, 10)).includes('bad'));
    await until(async () => {
      const log = await readFile(join(rig.gateway.prefix, 'error.log'), 'utf8');
      return log.includes('3 HTTP failures (limit 3)') && log.includes('set by hand');
    });
    const log = await readFile(join(rig.gateway.prefix, 'error.log'), 'utf8');
    assert.equal(log.split('an address is unhealthy').length - 1, 1);
  });

  it('count refused connections and timeouts separately', async () => {
    const refused = `127.0.0.1:${await freePort()}`;
    await using silent = await startBackend({ handler: () => {} });
    await using good = await namedBackend('good');
    const slow = `127.0.0.1:${silent.port}`;
    await using rig = await startHealthRig({
      healthchecks: passive({ tcp_failures: 1, timeouts: 2 }),
      targets: [refused, slow, good.target],
      service: { retries: 5, read_timeout: 100 },
    });
    for (let count = 0; count < 12; count++) assert.equal((await rig.get()).status, 200);
    assert.deepEqual(await rig.health(), { [refused]: 'UNHEALTHY', [slow]: 'UNHEALTHY', [good.target]: 'HEALTHY' });
  });

  it('are decided for all workers at once', async (t) => {
    await using bad = await namedBackend('bad');
    await using good = await namedBackend('good');
    await using rig = await startHealthRig({
      healthchecks: passive({ http_failures: 1 }),
      targets: [bad.target, good.target],
    });
    using many = await openMany(rig);
    await Promise.all(many.clients.map(ask));
    let longest = 0;
    for (let round = 0; round < 5; round++) {
      bad.status = 500;
      // The worker of this connection detects it; all others must know by the next request.
      const [first] = many.clients as [RawClient];
      while ((await ask(first)).status !== 500);
      const begun = performance.now();
      const answers = await Promise.all(many.clients.map(ask));
      longest = Math.max(longest, performance.now() - begun);
      assert.ok(answers.every(({ status, body }) => status === 200 && body === 'good'));
      bad.status = 200;
      await rig.write('PUT', `/upstreams/pool/targets/${bad.target}/healthy`);
      const healed = await Promise.all(many.clients.map(ask));
      assert.equal(healed.filter(({ body }) => body === 'bad').length, 8);
      await rig.write('PUT', `/upstreams/pool/targets/${bad.target}/unhealthy`);
      const gone = await Promise.all(many.clients.map(ask));
      assert.ok(gone.every(({ body }) => body === 'good'));
      await rig.write('PUT', `/upstreams/pool/targets/${bad.target}/healthy`);
    }
    t.diagnostic(`16 answers of both workers after a flip within ${longest.toFixed(1)} ms`);
  });
});

describe('health of targets', () => {
  it('survives edits, removal and a new upstream of the same name, until checks are turned off', async () => {
    await using bad = await namedBackend('bad');
    await using good = await namedBackend('good');
    const healthchecks = passive({ http_failures: 1 });
    await using rig = await startHealthRig({ healthchecks, targets: [bad.target, good.target] });
    await rig.write('PUT', `/upstreams/pool/targets/${bad.target}/unhealthy`);
    const isOut = async (): Promise<void> => {
      assert.equal((await rig.health())[bad.target], 'UNHEALTHY');
      assert.ok((await bodies(rig, 6)).every((body) => body === 'good'));
    };
    await isOut();
    await rig.write('PATCH', '/upstreams/pool', { tags: ['edited'], slots: 100 });
    await isOut();
    await rig.write('PATCH', '/upstreams/pool', { healthchecks: { active: { http_path: '/other' } } });
    await isOut();
    await rig.write('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${await freePort()}`, weight: 0 });
    await rig.write('PATCH', `/upstreams/pool/targets/${bad.target}`, { weight: 50 });
    await isOut();
    await rig.write('DELETE', '/upstreams/pool');
    await rig.write('PUT', '/upstreams/pool', { healthchecks });
    for (const target of [bad.target, good.target]) await rig.write('POST', '/upstreams/pool/targets', { target });
    await isOut();
    await rig.write('PATCH', '/upstreams/pool', { healthchecks: passive({ http_failures: 0 }) });
    assert.equal((await rig.health())[bad.target], 'HEALTHCHECKS_OFF');
    assert.ok((await bodies(rig, 6)).includes('bad'));
    await rig.write('PATCH', '/upstreams/pool', { healthchecks });
    assert.equal((await rig.health())[bad.target], 'HEALTHY');
  });

  it('can be set for a target or one address if checks are configured', async () => {
    await using backend = await namedBackend('one');
    await using rig = await startHealthRig({
      healthchecks: passive({ tcp_failures: 1 }),
      targets: [backend.target, 'localhost:9'],
    });
    const put = (path: string) => rig.gateway.admin('PUT', `/upstreams/pool/targets/${path}`);
    assert.equal((await put(`${backend.target}/${backend.target}/unhealthy`)).status, 204);
    assert.equal((await rig.health())[backend.target], 'UNHEALTHY');
    assert.equal((await put(`${backend.target}/${backend.target}/healthy`)).status, 204);
    await rig.becomes('localhost:9', 'HEALTHY');
    assert.equal((await put('localhost:9/127.0.0.1:9/unhealthy')).status, 204);
    const named = (await rig.targets()).find(({ target }) => target === 'localhost:9');
    assert.equal(named?.data.addresses.find(({ ip }) => ip === '127.0.0.1')?.health, 'UNHEALTHY');
    for (const path of [
      `${backend.target}/10.9.9.9:1/healthy`,
      '10.9.9.9:1/healthy',
      `${backend.target}/x/unhealthy`,
    ]) {
      assert.equal((await put(path)).status, 404, path);
    }
    assert.equal((await rig.gateway.admin('POST', `/upstreams/pool/targets/${backend.target}/healthy`)).status, 405);
    await rig.write('PATCH', '/upstreams/pool', { healthchecks: passive({ tcp_failures: 0 }) });
    const off = await put(`${backend.target}/unhealthy`);
    assert.equal(off.status, 400);
    assert.deepEqual(off.body, { message: 'no healthchecker found for pool' });
  });

  it('makes the upstream unhealthy when too few are healthy', async () => {
    await using one = await namedBackend('one');
    await using two = await namedBackend('two');
    await using rig = await startHealthRig({
      healthchecks: { ...passive({ tcp_failures: 1 }), threshold: 50 },
      targets: [one.target, two.target],
    });
    const overall = async (): Promise<Record<string, unknown>> =>
      (await rig.write('GET', '/upstreams/pool/health?balancer_health=1'))['data'] as Record<string, unknown>;
    assert.equal((await overall())['health'], 'HEALTHY');
    assert.equal((await rig.get()).status, 200);
    await rig.write('PUT', `/upstreams/pool/targets/${one.target}/unhealthy`);
    const data = await overall();
    assert.equal(data['health'], 'UNHEALTHY');
    assert.equal(data['balancer_health'], 'UNHEALTHY');
    const details = data['details'] as Record<string, unknown>;
    assert.equal(details['healthy'], false);
    assert.deepEqual(details['weight'], { total: 200, available: 100, unavailable: 100 });
    assert.equal((await rig.get()).status, 503);
    await rig.write('PATCH', '/upstreams/pool', { healthchecks: { threshold: 49 } });
    assert.equal((await rig.get()).body.trim(), 'two');
    assert.equal((await overall())['health'], 'HEALTHY');
  });

  it('is DNS_ERROR for names without an address, and visible in the status API', async () => {
    await using rig = await startHealthRig({
      healthchecks: passive({ tcp_failures: 1 }),
      targets: ['nowhere.invalid:80', '127.0.0.1:9'],
    });
    await rig.becomes('nowhere.invalid:80', 'DNS_ERROR');
    const read = async (path: string) =>
      (await fetch(`${rig.gateway.statusUrl}${path}`)).json() as Promise<{ data: unknown[] }>;
    assert.deepEqual(await read('/upstreams/pool/health'), await rig.write('GET', '/upstreams/pool/health'));
    assert.equal((await read('/upstreams/pool/targets')).data.length, 2);
    for (const [method, path] of [
      ['POST', '/upstreams/pool/targets'],
      ['DELETE', '/upstreams/pool/targets/127.0.0.1:9'],
      ['PUT', '/upstreams/pool/targets/127.0.0.1:9/unhealthy'],
    ] as const) {
      const { status } = await fetch(`${rig.gateway.statusUrl}${path}`, { method });
      assert.ok(status === 404 || status === 405, `${method} ${path}: ${status}`);
    }
  });
});

describe('health on several nodes', { skip: skipWithoutPostgres() }, () => {
  it('is separate for each node, but values set by an operator reach all', async () => {
    const server = await startPostgres();
    try {
      const { host, port, user, password, database } = server;
      const pg = { ...testSettings({ prefix: '/' }).pg, host, port, user, password, database };
      const settings = { database: 'postgres', pg } as const;
      await using bad = await namedBackend('bad');
      await using good = await namedBackend('good');
      await using rig = await startHealthRig({
        healthchecks: passive({ http_failures: 1 }),
        targets: [bad.target, good.target],
        settings,
      });
      await using second = await startTestGateway({ settings });
      const there = async (): Promise<unknown> => {
        const { data } = (await second.admin('GET', '/upstreams/pool/health')).body as unknown as {
          data: ShownTarget[];
        };
        return data.find(({ target }) => target === bad.target)?.health;
      };
      await until(async () => (await there()) === 'HEALTHY');
      const state = ['unhealthy', 'healthy'] as const;
      for (const health of state) {
        await rig.write('PUT', `/upstreams/pool/targets/${bad.target}/${health}`);
        await until(async () => (await there()) === health.toUpperCase(), 2_000);
      }
      bad.status = 500;
      while ((await rig.get()).status !== 500);
      assert.equal((await rig.health())[bad.target], 'UNHEALTHY');
      assert.equal(await there(), 'HEALTHY');
    } finally {
      await server.stop();
    }
  });
});
