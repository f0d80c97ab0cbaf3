import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { openClient, type RawClient } from '../../../test/support/raw-client.ts';
import { until } from '../../../test/support/until.ts';

const faulty = join(import.meta.dirname, '../../../test/support/plugins/faulty.ts');

let gateway: TestGateway;
let backend: TestBackend;
/** Requests that the backend has not answered yet. */
const held = new Set<ServerResponse>();
const clients: RawClient[] = [];

before(async () => {
  backend = await startBackend({
    handler: (_, response) => {
      held.add(response);
      response.on('close', () => held.delete(response));
    },
  });
  gateway = await startTestGateway({ settings: { workers: 2, plugins: ['concurrency-limiting', faulty] } });
  await created('/services', { name: 's', url: backend.url });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
after(async () => {
  await gateway.stop();
  await backend.close();
});

async function created(path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await gateway.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
}

async function limitedRoute(name: string, limit: number): Promise<string> {
  await created('/services/s/routes', { name, paths: [`/${name}`] });
  await created(`/routes/${name}/plugins`, { name: 'concurrency-limiting', config: { limit, limit_by: 'ip' } });
  return `/${name}`;
}

interface Sent {
  readonly clients: readonly RawClient[];
  /** Statuses of the answered requests. */
  readonly answered: readonly number[];
}

/**
 * Sends this many requests at once, each on a new connection, so that all workers get some. Returns when each of them
 * is answered or has reached the backend.
 */
async function send(path: string, requests: number): Promise<Sent> {
  const before = held.size;
  const answered: number[] = [];
  const sent = await Promise.all(Array.from({ length: requests }, () => openClient(gateway.proxyPort)));
  clients.push(...sent);
  for (const client of sent) {
    client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    client.readResponse('GET', 60_000).then(
      ({ status }) => answered.push(status),
      () => {},
    );
  }
  await until(() => answered.length + held.size - before === requests);
  return { clients: sent, answered };
}

/** Checks that exactly the limit of this many requests is accepted, once the earlier slots are free. */
async function assertFree(path: string, limit: number): Promise<void> {
  assert.equal(held.size, 0);
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { answered } = await send(path, limit + 1);
    assert.ok(held.size <= limit, `${held.size} in flight`);
    const through = held.size;
    await finishAll();
    if (through === limit) return assert.deepEqual(answered.slice(0, 1), [429]);
    assert.ok(Date.now() < deadline, `only ${through} places are free`);
  }
}

async function finishAll(): Promise<void> {
  for (const response of held) response.end('done');
  await until(() => held.size === 0);
}

test('sends exactly the limit of concurrent requests to the backend, over all workers, repeatedly', async () => {
  const path = await limitedRoute('exact', 7);
  for (let turn = 0; turn < 5; turn++) {
    const { answered } = await send(path, 60);
    assert.equal(held.size, 7);
    assert.deepEqual(answered, Array(53).fill(429));
    await finishAll();
    await until(() => answered.length === 60);
    assert.equal(answered.filter((status) => status === 200).length, 7);
  }
});

test('frees the slot of a client that disconnects, exactly once', async () => {
  const path = await limitedRoute('aborts', 5);
  for (let turn = 0; turn < 5; turn++) {
    const sent = await send(path, 5);
    assert.equal(held.size, 5);
    for (const [at, client] of sent.clients.entries()) {
      if (at % 2 === 0) client.reset();
      else client.close();
    }
    await until(() => held.size === 0);
  }
  await assertFree(path, 5);
});

test('frees the slots when the backend aborts', async () => {
  const path = await limitedRoute('broken', 4);
  await send(path, 4);
  for (const response of held) {
    response.writeHead(200, { 'Content-Length': 100 });
    response.write('the beginning');
    setImmediate(() => response.destroy());
  }
  await until(() => held.size === 0);
  await assertFree(path, 4);
});

test('counts requests in flight when the limit changes', async () => {
  const path = await limitedRoute('edited', 3);
  await send(path, 3);
  const { body } = await gateway.admin('GET', '/routes/edited/plugins');
  const [{ id }] = body['data'] as [{ id: string }];
  assert.equal((await gateway.admin('PATCH', `/plugins/${id}`, { config: { limit: 5 } })).status, 200);
  const { answered } = await send(path, 6);
  assert.deepEqual([held.size, answered], [5, [429, 429, 429, 429]]);
  await finishAll();
  await assertFree(path, 5);
});

test('frees the slots of a worker that died', async () => {
  const path = await limitedRoute('died', 6);
  await created('/routes', { name: 'faulty', paths: ['/faulty'] });
  await created('/routes/faulty/plugins', { name: 'faulty' });
  await send(path, 6);
  assert.equal(held.size, 6);
  // The worker dies of this, and its connections to the backend close.
  using killer = await openClient(gateway.proxyPort);
  killer.write('GET /faulty HTTP/1.1\r\nHost: a\r\nX-Fail: exit\r\n\r\n');
  await killer.readToEnd(20_000);
  for (const client of clients.splice(0)) client.close();
  await until(() => held.size === 0);
  await assertFree(path, 6);
});
