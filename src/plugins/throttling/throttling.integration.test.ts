import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { openClient, type RawClient } from '../../../test/support/raw-client.ts';
import { until } from '../../../test/support/until.ts';

let backend: TestBackend;
/** When requests reached the backend, on the monotonic clock. */
const arrivals: number[] = [];
const clients: RawClient[] = [];

before(async () => {
  backend = await startBackend({
    handler: (_, response) => {
      arrivals.push(performance.now());
      response.end('done');
    },
  });
});
afterEach(() => {
  arrivals.length = 0;
  for (const client of clients.splice(0)) client.close();
});
after(() => backend.close());

/** A gateway whose path `/` is throttled by the value of the header `Key`. */
async function startThrottled(workers: number, config: Readonly<Record<string, unknown>>): Promise<TestGateway> {
  const gateway = await startTestGateway({ settings: { workers, plugins: ['throttling'] } });
  const given = { limit_by: 'header', header_name: 'Key', ...config };
  for (const [path, body] of [
    ['/services', { name: 's', url: backend.url }],
    ['/services/s/routes', { name: 'r', paths: ['/'] }],
    ['/routes/r/plugins', { name: 'throttling', config: given }],
  ] as const) {
    const answer = await gateway.admin('POST', path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  }
  return gateway;
}

/** A request on a new connection, so that all workers get some. */
async function send(gateway: TestGateway, key: string): Promise<{ client: RawClient; status: number | null }> {
  const client = await openClient(gateway.proxyPort);
  clients.push(client);
  const sent = { client, status: null as number | null };
  client.write(`GET / HTTP/1.1\r\nHost: a\r\nKey: ${key}\r\n\r\n`);
  client.readResponse('GET', 60_000).then(
    ({ status }) => {
      sent.status = status;
    },
    () => {},
  );
  return sent;
}

test('forwards requests at the rate, over all workers', async () => {
  await using gateway = await startThrottled(2, { rate: '20r/s' });
  const begun = performance.now();
  const sent = await Promise.all(Array.from({ length: 16 }, () => send(gateway, 'a')));
  await until(() => sent.every(({ status }) => status !== null));
  assert.ok(sent.every(({ status }) => status === 200));
  assert.equal(arrivals.length, 16);
  for (const [at, arrival] of arrivals.sort((a, b) => a - b).entries()) {
    // The first one may have reached the gateway right at the start of the test.
    assert.ok(arrival - begun >= at * 50 - 5, `request ${at} came after ${arrival - begun} ms`);
  }
});

test('queues exactly as many concurrent requests as the queue has slots, over all workers', async () => {
  await using gateway = await startThrottled(2, { rate: '1r/m', queue_size: 9, max_wait: 600_000 });
  const sent = await Promise.all(Array.from({ length: 80 }, () => send(gateway, 'a')));
  const answered = (): number => sent.filter(({ status }) => status !== null).length;
  await until(() => answered() === 71);
  assert.equal(sent.filter(({ status }) => status === 200).length, 1);
  assert.equal(sent.filter(({ status }) => status === 429).length, 70);
  assert.equal(arrivals.length, 1);
});

test('frees the slot of a waiting client that disconnects', async () => {
  await using gateway = await startThrottled(1, { rate: '1r/m', max_wait: 600_000, max_waiting: 3 });
  const waiting = await Promise.all(Array.from({ length: 4 }, () => send(gateway, 'a')));
  await until(() => waiting.some(({ status }) => status === 200));
  assert.ok(!(await waits(gateway, 'b')), 'nobody else can wait meanwhile');
  for (const [at, { client }] of waiting.entries()) {
    if (at % 2 === 0) client.reset();
    else client.close();
  }
  // One at a time: each of them stays in the queue.
  for (let place = 0; place < 3; place++) {
    for (let attempt = 0; !(await waits(gateway, `c${place}.${attempt}`)); attempt++) assert.ok(attempt < 100);
  }
  assert.ok(!(await waits(gateway, 'd')), 'as many slots are free as clients disconnected');
});

/** Sends a client's first request, which is forwarded, and a second one. True: it waits; false: it is refused. */
async function waits(gateway: TestGateway, key: string): Promise<boolean> {
  const first = await send(gateway, key);
  await until(() => first.status !== null);
  assert.equal(first.status, 200);
  const second = await send(gateway, key);
  // A refusal is immediate, so it arrives before the answer of the backend to this one.
  const other = await send(gateway, `${key} other`);
  await until(() => other.status !== null);
  assert.equal(other.status, 200);
  assert.ok(second.status === null || second.status === 429);
  return second.status === null;
}

test('forwards waiting requests when the gateway stops', async () => {
  const gateway = await startThrottled(1, { rate: '2r/s' });
  const sent = await Promise.all(Array.from({ length: 3 }, () => send(gateway, 'a')));
  await until(() => sent.some(({ status }) => status === 200));
  assert.ok(sent.some(({ status }) => status === null));
  await gateway.gateway.stop(true);
  await until(() => sent.every(({ status }) => status !== null));
  assert.deepEqual(
    sent.map(({ status }) => status),
    [200, 200, 200],
  );
  await gateway.stop();
});
