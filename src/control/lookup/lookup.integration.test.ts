import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import {
  postgresSettings,
  skipWithoutPostgres,
  startPostgres,
  type TestPostgres,
} from '../../../test/support/postgres.ts';
import { until } from '../../../test/support/until.ts';
import type { Settings } from '../../shared/settings/settings.ts';

const sdk = new URL('../../plugin-sdk/', import.meta.url).href;

/** Accepts requests with the name of a consumer. */
const door = `
import { definePlugin, httpProtocols, refuse } from '${sdk}index.ts';
import { record } from '${sdk}schema.ts';
export default definePlugin({
  name: 'door', version: '1.0.0', priority: 1000, protocols: httpProtocols, schema: { config: record({}) },
  setup: (config, tools) => ({ async access(context) {
    tools.count('asked');
    const consumer = await tools.entities.consumer(context.request.header('x-name') ?? '');
    if (consumer === null) return refuse(401, 'Unauthorized');
    context.authenticate(consumer, { id: consumer.id, identifier: consumer.username });
  } }),
});`;

const compared = 'the config was compared with the store';
const skip = skipWithoutPostgres();
let folder = '';
let backend: TestBackend;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-lookup-'));
  await writeFile(join(folder, 'door.ts'), door);
  backend = await startBackend();
});

after(async () => {
  await backend.close();
  await rm(folder, { recursive: true, force: true });
});

function startNode(settings: Partial<Settings> = {}): Promise<TestGateway> {
  return startTestGateway({ settings: { plugins: [join(folder, 'door.ts')], ...settings } });
}

async function guard(node: TestGateway): Promise<void> {
  for (const [path, body] of [
    ['/services', { name: 's', url: backend.url }],
    ['/services/s/routes', { paths: ['/'] }],
    ['/plugins', { name: 'door' }],
  ] as const) {
    assert.equal((await node.admin('POST', path, body)).status, 201);
  }
}

async function enter(node: TestGateway, name: string): Promise<number> {
  // A connection for each request spreads them over all workers.
  const response = await fetch(node.proxyUrl, { headers: { 'x-name': name, connection: 'close' } });
  await response.arrayBuffer();
  return response.status;
}

/** The distinct statuses of many requests. */
async function statuses(node: TestGateway, name: string, requests: number): Promise<readonly number[]> {
  return [...new Set(await Promise.all(Array.from({ length: requests }, () => enter(node, name))))];
}

test('a consumer is valid from its 201 to its 204, on every worker, whatever was looked up before', async () => {
  await using node = await startNode({ workers: 2 });
  await guard(node);
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(await statuses(node, 'ada', 20), [401]);
    assert.equal((await node.admin('POST', '/consumers', { username: 'ada' })).status, 201);
    assert.deepEqual(await statuses(node, 'ada', 20), [200]);
    assert.equal((await node.admin('PATCH', '/consumers/ada', { username: 'eve' })).status, 200);
    assert.deepEqual(await statuses(node, 'ada', 20), [401]);
    assert.deepEqual(await statuses(node, 'eve', 20), [200]);
    assert.equal((await node.admin('DELETE', '/consumers/eve')).status, 204);
    assert.deepEqual(await statuses(node, 'eve', 20), [401]);
  }
});

test('what plugins count is summed over the workers', async () => {
  await using node = await startNode({ workers: 2 });
  await guard(node);
  await statuses(node, 'nobody', 30);
  let asked = 0;
  const deadline = Date.now() + 10_000;
  while (asked < 30 && Date.now() < deadline) {
    const { plugins } = (await node.admin('GET', '/status')).body as { plugins: { door?: { asked: number } } };
    asked = plugins.door?.asked ?? 0;
  }
  assert.equal(asked, 30);
});

test('a worker that replaces another looks rows up again', async () => {
  await using node = await startNode();
  await guard(node);
  await node.admin('POST', '/consumers', { username: 'ada' });
  assert.equal(await enter(node, 'ada'), 200);
  await node.admin('DELETE', '/consumers/ada');
  assert.equal(await enter(node, 'ada'), 401);
});

test('while the database is unavailable, known clients are accepted, also after a restart; others receive 503', {
  skip,
}, async () => {
  const postgres: TestPostgres = await startPostgres();
  const pg = postgresSettings(postgres, 2000);
  const settings = { prefix: join(folder, 'outage'), database: 'postgres' as const, pg };
  let node = await startNode(settings);
  try {
    await guard(node);
    await node.admin('POST', '/consumers', { username: 'ada' });
    await node.admin('POST', '/consumers', { username: 'gone' });
    assert.equal(await enter(node, 'ada'), 200);
    assert.equal(await enter(node, 'gone'), 200);
    await node.admin('DELETE', '/consumers/gone');
    await postgres.crash();
    assert.equal(await enter(node, 'ada'), 200);
    assert.equal(await enter(node, 'stranger'), 503);
    await node.gateway.stop(false);
    assert.equal((await stat(join(settings.prefix, 'last-good-lookups.json'))).mode & 0o777, 0o600);
    node = await startNode(settings);
    assert.equal(await enter(node, 'ada'), 200);
    assert.equal(await enter(node, 'gone'), 503, 'a removed consumer is not accepted');
    await postgres.restart();
    const deadline = Date.now() + 20_000;
    while ((await enter(node, 'stranger')) === 503) assert.ok(Date.now() < deadline, 'it did not recover');
    // It was available for a moment only.
    await until(async () => (await readFile(join(node.prefix, 'error.log'), 'utf8')).includes(compared));
    await postgres.crash();
    assert.equal(await enter(node, 'ada'), 200, 'known clients stay known');
    await postgres.restart();
    while ((await enter(node, 'gone')) === 503) assert.ok(Date.now() < deadline, 'it did not recover');
    assert.equal(await enter(node, 'stranger'), 401);
    assert.equal(await enter(node, 'gone'), 401);
    assert.equal(await enter(node, 'ada'), 200);
  } finally {
    await node.stop();
    await postgres.stop();
  }
});
