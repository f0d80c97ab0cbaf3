import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';

let gateway: TestGateway;
let backend: TestBackend;

before(async () => {
  backend = await startBackend();
  gateway = await startTestGateway({
    settings: { workers: 2, plugins: ['rate-limiting'], trustedIps: ['127.0.0.1'], realIpHeader: 'X-Forwarded-For' },
  });
  assert.equal((await gateway.admin('POST', '/services', { name: 's', url: backend.url })).status, 201);
});

after(async () => {
  await gateway.stop();
  await backend.close();
});

/** A route with the plugin; returns its path. */
async function limitedRoute(name: string, config: Readonly<Record<string, unknown>>): Promise<string> {
  assert.equal((await gateway.admin('POST', '/services/s/routes', { name, paths: [`/${name}`] })).status, 201);
  const added = await gateway.admin('POST', `/routes/${name}/plugins`, { name: 'rate-limiting', config });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return `/${name}`;
}

/** How many of this many concurrent requests were accepted. Each has a new connection, so that all workers get some. */
async function passed(path: string, requests: number, ip = '10.0.0.1'): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: requests }, async () => {
      const response = await fetch(gateway.proxyUrl + path, {
        headers: { connection: 'close', 'x-forwarded-for': ip },
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  assert.ok(statuses.every((status) => status === 200 || status === 429));
  return statuses.filter((status) => status === 200).length;
}

test('accepts exactly the limit of concurrent requests, over all workers', async () => {
  const path = await limitedRoute('windows', { year: 50 });
  assert.equal(await passed(path, 200), 50);
  assert.equal(await passed(path, 20), 0);
  assert.equal(await passed(path, 20, '10.0.0.2'), 20);
});

test('accepts exactly the burst and one of concurrent requests, over all workers', async () => {
  const path = await limitedRoute('rate', { rate: '1r/m', burst: 30, nodelay: true, zone_size: '64k' });
  assert.equal(await passed(path, 100), 31);
  assert.equal(await passed(path, 40, '10.0.0.2'), 31);
});

test('keeps its counts when other fields of the instance or other entities change', async () => {
  const path = await limitedRoute('edited', { year: 10 });
  assert.equal(await passed(path, 8), 8);
  const { body } = await gateway.admin('GET', '/routes/edited/plugins');
  const [{ id }] = body['data'] as [{ id: string }];
  assert.equal(
    (await gateway.admin('PATCH', `/plugins/${id}`, { config: { error_code: 429, error_message: 'no' } })).status,
    200,
  );
  await gateway.admin('POST', '/services/s/routes', { name: 'unrelated', paths: ['/unrelated'] });
  assert.equal(await passed(path, 20), 2);
});

test('shows the usage of a zone, and does not exceed its size', async () => {
  const path = await limitedRoute('many', { rate: '1r/m', zone_size: '32k' });
  for (let round = 0; round < 12; round++) {
    const addresses = Array.from({ length: 50 }, (_, at) => `10.1.${round}.${at}`);
    await Promise.all(addresses.map((ip) => passed(path, 1, ip)));
  }
  const { body } = await gateway.admin('GET', '/status');
  const zones = body['zones'] as { plugin: string; bytes: number; slots: number; used: number; evictions: number }[];
  const zone = zones.find(({ bytes }) => bytes === 32 * 1024);
  assert.ok(zone !== undefined && zone.plugin === 'rate-limiting');
  assert.ok(zone.used <= zone.slots && zone.used + zone.evictions === 600, JSON.stringify(zone));
});

test('returns deprecated and current Redis fields, as Kong does', async () => {
  await gateway.admin('POST', '/services/s/routes', { name: 'old', paths: ['/old'] });
  const { status, body } = await gateway.admin(
    'POST',
    '/routes/old/plugins',
    'name=rate-limiting&config.minute=5&config.redis_host=localhost',
  );
  assert.equal(status, 201);
  const config = body['config'] as { redis_host: string; redis: { host: string }; minute: number };
  assert.deepEqual([config.redis_host, config.redis.host, config.minute], ['localhost', 'localhost', 5]);
});
