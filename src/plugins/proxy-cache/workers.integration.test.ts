import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { skipWithoutRedis, startRedis } from '../../../test/support/redis.ts';
import { until } from '../../../test/support/until.ts';

/** The cache that the workers of a node share, and, in Redis, several nodes. */

const faulty = join(import.meta.dirname, '../../../test/support/plugins/faulty.ts');

let gateway: TestGateway;
let backend: TestBackend;
const held = new Set<ServerResponse>();
/** Null: the backend keeps requests to `/held`. Later ones than expected are answered too, so that a test can count them. */
let released: string | null = null;
let served = 0;
let here: Address;

before(async () => {
  backend = await startBackend({
    handler: (request, response) => {
      served++;
      const body = `answer ${served}`;
      response.setHeader('Surrogate-Key', 'all');
      if (request.url?.startsWith('/held') !== true) {
        response.end(body);
        return;
      }
      if (released !== null) {
        response.end(released);
        return;
      }
      held.add(response);
      response.on('close', () => held.delete(response));
    },
  });
  gateway = await startTestGateway({ settings: { workers: 3, plugins: ['proxy-cache', faulty] } });
  here = { host: '127.0.0.1', port: gateway.proxyPort };
  await setUp(gateway, {});
  await created(gateway, '/routes', { name: 'faulty', paths: ['/faulty'] });
  await created(gateway, '/routes/faulty/plugins', { name: 'faulty' });
});
beforeEach(() => {
  released = null;
});
after(async () => {
  // Responses that a failed test has left open must not prevent the gateway from stopping.
  for (const response of held) response.destroy();
  await gateway.stop();
  await backend.close();
});

async function created(node: TestGateway, path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await node.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
}

/** The same ids on all nodes, as with a shared database. */
async function setUp(node: TestGateway, config: Readonly<Record<string, unknown>>): Promise<void> {
  const id = '8c2f7f0e-1111-4222-8333-444455556666';
  await created(node, '/services', { id, name: 's', url: backend.url });
  await created(node, '/services/s/routes', { id, name: 'cached', paths: ['/'], strip_path: false });
  const common = {
    strategy: 'memory',
    content_type: ['*/*'],
    memory: { size: '1m' },
    max_body: '64k',
    coalescing_wait: 20,
  };
  await created(node, '/routes/cached/plugins', { id, name: 'proxy-cache', config: { ...common, ...config } });
}

interface Reply {
  readonly text: string;
  readonly status: string;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** A persistent connection, and the worker that serves it. */
interface Connection extends Address {
  readonly agent: Agent;
  readonly worker: string;
}

async function openWorker(): Promise<Connection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { text } = await getOn({ ...here, agent, worker: '' }, '/faulty');
  return { ...here, agent, worker: text };
}

/** On a separate connection, so that all workers get some requests. */
function get(node: Address, path: string): Promise<Reply> {
  return getOn(node, path);
}

async function getOn(node: Address | Connection, path: string, headers: OutgoingHttpHeaders = {}): Promise<Reply> {
  const options = { host: node.host, port: node.port, path, agent: 'agent' in node ? node.agent : (false as const) };
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ ...options, headers: { Host: 'example.com', ...headers } }, resolve)
      .on('error', reject)
      .end();
  });
  const text = Buffer.concat(await message.toArray()).toString();
  return { text, status: String(message.headers['x-cache-status']) };
}

function getMany(node: Address, path: string, count: number): Promise<readonly Reply[]> {
  return Promise.all(Array.from({ length: count }, () => get(node, path)));
}

function release(text: string): void {
  released = text;
  for (const response of held) response.end(text);
}

async function zoneFacts(): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await gateway.admin('GET', '/status');
  return (body['zones'] as Record<string, unknown>[]).find(({ kind }) => kind === 'store') ?? {};
}

test('a response that one worker has stored is served by all workers', async () => {
  const { text } = await get(here, '/kept');
  const answers = await getMany(here, '/kept', 40);
  assert.deepEqual([...new Set(answers.map((one) => `${one.text} ${one.status}`))], [`${text} Hit`]);
});

test('a hundred simultaneous requests on all workers send one to the backend', async () => {
  const before = served;
  const answers = getMany(here, '/held/at-once', 100);
  await until(() => held.size === 1);
  release('together');
  assert.deepEqual([...new Set((await answers).map(({ text }) => text))], ['together']);
  assert.equal(served - before, 1);
});

test('when the worker that holds the lock dies, the others continue and the cache keeps its entries', async () => {
  await get(here, '/stays');
  const holder = await openWorker();
  const holding = getOn(holder, '/held/dies').catch(() => null);
  await until(() => held.size === 1);
  const [first] = held;
  const followers = await Promise.all(Array.from({ length: 12 }, openWorker));
  const waiting = followers.filter(({ worker }) => worker !== holder.worker);
  const answers = waiting.map((one) => getOn(one, '/held/dies'));
  // On a separate connection: a worker answers the requests of one connection in order.
  let killer = await openWorker();
  for (let tries = 0; killer.worker !== holder.worker; tries++) {
    assert.ok(tries < 200, 'a connection to the worker that holds the lock');
    killer.agent.destroy();
    killer = await openWorker();
  }
  await getOn(killer, '/faulty', { 'X-Fail': 'exit' }).catch(() => null);
  assert.equal(await holding, null);
  const later = get(here, '/held/dies');
  await until(() => held.size === 1 && !held.has(first as ServerResponse));
  release('after all');
  for (const reply of await Promise.all([...answers, later])) assert.equal(reply.text, 'after all');
  assert.equal((await get(here, '/stays')).status, 'Hit');
  for (const one of [holder, killer, ...followers]) one.agent.destroy();
});

test('the control plane purges entries and the copies of all workers, and reports the usage of the memory', async () => {
  const before = await zoneFacts();
  assert.equal(before['plugin'], 'proxy-cache');
  assert.equal(before['bytes'], 2 ** 20);
  await getMany(here, '/purged', 20);
  const filled = await zoneFacts();
  assert.ok(Number(filled['used']) > Number(before['used']) && Number(filled['taken']) > Number(before['taken']));
  assert.ok(Number(filled['hits']) >= 19 && Number(filled['capacity']) >= Number(filled['taken']));
  assert.equal(filled['evictions'], 0);
  const [{ text }] = (await getMany(here, '/purged', 1)) as [Reply];
  assert.equal((await gateway.admin('DELETE', '/proxy-cache?tag=all')).status, 200);
  const answers = await getMany(here, '/purged', 20);
  assert.ok(answers.every((one) => one.text !== text));
});

test('new responses evict others when the memory is full', async () => {
  for (let at = 0; at < 1500; at += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, one) => get(here, `/more/${at + one}`)));
  }
  const { used, taken, capacity, evictions } = await zoneFacts();
  assert.ok(Number(evictions) > 0 && Number(taken) <= Number(capacity) && Number(used) > 0);
});

test('two nodes share a cache in Redis: responses are fetched, stored and purged once', {
  skip: skipWithoutRedis(),
  timeout: 60_000,
}, async () => {
  const redis = await startRedis();
  const nodes: TestGateway[] = [];
  const addresses: Address[] = [];
  try {
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      // The port is part of the key.
      const env = { SLUICEGATE_PROXY_LISTEN: `${host}:${addresses[0]?.port ?? 0}` };
      const node = await startTestGateway({ settings: { workers: 2, plugins: ['proxy-cache'] }, env });
      nodes.push(node);
      addresses.push({ host, port: node.proxyPort });
      // On a busy machine Redis may take seconds. A request that did not wait for it would be held by the backend.
      await setUp(node, { strategy: 'redis', redis: { host: redis.host, port: redis.port, timeout: 30_000 } });
    }
    const [one, two] = addresses as [Address, Address];
    const before = served;
    const answers = Promise.all([getMany(one, '/held/redis', 30), getMany(two, '/held/redis', 30)]);
    await until(() => held.size === 1);
    release('for both');
    const texts = (await answers).flat().map(({ text }) => text);
    assert.deepEqual([...new Set(texts)], ['for both']);
    assert.equal(served - before, 1);
    assert.equal((await get(two, '/held/redis')).status, 'Hit');
    assert.equal((await nodes[0]?.admin('DELETE', '/proxy-cache'))?.status, 204);
    await get(one, '/kept');
    released = null;
    const again = get(two, '/held/redis');
    await until(() => held.size === 1);
    release('again');
    assert.equal((await again).text, 'again');
    await redis.kill();
    assert.deepEqual(
      (await getMany(one, '/plain', 5)).map(({ status }) => status),
      Array(5).fill('Bypass'),
    );
    await until(async () => {
      const status = await nodes[0]?.admin('GET', '/status');
      const counts = status?.body['plugins'] as Record<string, Record<string, number>> | undefined;
      return (counts?.['proxy-cache']?.['store_failures'] ?? 0) > 0;
    });
  } finally {
    for (const node of nodes) await node.stop();
    await redis.stop();
  }
});
