import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startTestGateway, type TestGateway } from '../../../../test/support/gateway.ts';
import { openClient, type RawClient } from '../../../../test/support/raw-client.ts';

let gateway: TestGateway;
let port = 0;

before(async () => {
  gateway = await startTestGateway();
  port = Number(new URL(gateway.statusUrl).port);
});

after(() => gateway.stop());

const get = 'GET /status/ready HTTP/1.1\r\nHost: localhost\r\n';

async function ask(client: RawClient, request: string): Promise<readonly [number, string]> {
  client.write(`${request}\r\n`);
  const { status, body } = await client.readResponse();
  return [status, body.toString()];
}

/** Sends a request from a thread of its own, and writes the status to shared memory. */
const prober = `
const { workerData } = require('node:worker_threads');
const status = new Int32Array(workerData.memory);
const note = (value) => { Atomics.store(status, 0, value); Atomics.notify(status, 0); };
require('node:net').connect(workerData.port, '127.0.0.1', function () { this.write(workerData.request); })
  .once('data', function (data) { note(Number(String(data).slice(9, 12))); this.destroy(); })
  .on('error', () => note(-1));`;

for (const [what, request] of [
  ['of HTTP/1.1', `${get}\r\n`],
  ['as load balancers send it: HTTP/1.0 without Host', 'GET /status/ready HTTP/1.0\r\n\r\n'],
] as const) {
  test(`a readiness request ${what} is answered while the event loop of the control plane is blocked`, async () => {
    const memory = new SharedArrayBuffer(4);
    const thread = new Worker(prober, { eval: true, workerData: { memory, port, request } });
    // This thread is the control plane of the gateway.
    Atomics.wait(new Int32Array(memory), 0, 0, 10_000);
    assert.equal(Atomics.load(new Int32Array(memory), 0), 200);
    await thread.terminate();
  });
}

test('a connection is reused, for readiness and then for any other request', async () => {
  using client = await openClient(port);
  assert.deepEqual(await ask(client, get), [200, '{"message":"ready"}']);
  assert.deepEqual(await ask(client, get), [200, '{"message":"ready"}']);
  const [status, text] = await ask(client, 'GET /status HTTP/1.1\r\nHost: localhost\r\n');
  assert.equal(status, 200);
  assert.ok('server' in JSON.parse(text));
  assert.equal((await ask(client, get))[0], 200, 'the control plane answers it the same way');
});

test('the answer is that of the control plane', async () => {
  const answers = await Promise.all([{}, { origin: 'http://localhost' }].map((headers) => head(headers)));
  const [threadHeaders, controlPlane] = answers;
  // Only an answer to a request with an origin has `Vary`.
  const names = [...controlPlane!.keys()].filter((name) => name !== 'vary');
  assert.deepEqual([...threadHeaders!.keys()].sort(), names.sort());
  for (const name of ['content-type', 'content-length', 'server'])
    assert.equal(threadHeaders!.get(name), controlPlane!.get(name));
});

async function head(headers: Record<string, string>): Promise<Headers> {
  const response = await fetch(`${gateway.statusUrl}/status/ready`, { headers });
  assert.deepEqual(await response.json(), { message: 'ready' });
  return response.headers;
}

test('a request that arrives byte by byte is answered', async () => {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
  for (const byte of `${get}\r\n`) await new Promise<void>((resolve) => socket.write(byte, () => resolve()));
  assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n/);
  socket.destroy();
});

test('the control plane answers everything but plain readiness requests', async () => {
  const cases: readonly (readonly [request: string, status: number])[] = [
    ['GET /status/ready HTTP/1.1\r\nHost: rebound.example\r\n', 403],
    ['POST /status/ready HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n', 405],
    ['GET /status/readyx HTTP/1.1\r\nHost: localhost\r\n', 404],
    ['GET /status/ready HTTP/1.1\r\n', 400],
    ['GET /status/ready HTTP/1.1\r\nHost: localhost\r\nbad header\r\n', 400],
    ['GET /status/ready/ HTTP/1.1\r\nHost: localhost\r\n', 200],
  ];
  for (const [request, status] of cases) {
    using client = await openClient(port);
    assert.equal((await ask(client, request))[0], status, request);
  }
});
