import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../../test/support/gateway.ts';
import { openClient, type RawClient } from '../../../../test/support/raw-client.ts';

let gateway: TestGateway;
let port = 0;

before(async () => {
  gateway = await startTestGateway();
  port = Number(new URL(gateway.statusUrl).port);
});

after(() => gateway.stop());

const get = 'GET /status/ready HTTP/1.1\r\nHost: localhost\r\n\r\n';
const closing = get.replace('Host', 'Connection: close\r\nHost');

async function statusOf(client: RawClient, request: string): Promise<number> {
  client.write(request);
  return (await client.readResponse()).status;
}

/** Connections in excess of the limit. Each has received its answer and stays open. */
async function hold(request: string): Promise<readonly RawClient[]> {
  const clients = await Promise.all(Array.from({ length: 520 }, () => openClient(port)));
  if (request === '') return clients;
  // Those that were closed in favour of others have no answer.
  await Promise.all(clients.map((client) => statusOf(client, request).catch(() => 0)));
  return clients;
}

test('clients that disconnect while they are answered do not end the thread', async () => {
  using witness = await openClient(port);
  for (let round = 0; round < 100; round++) {
    using client = await openClient(port);
    for (let request = 0; request < 3; request++) await client.send(get);
    if (round % 2 === 0) client.reset();
  }
  assert.equal(await statusOf(witness, get), 200);
});

test('pipelined requests are all answered', async () => {
  using client = await openClient(port);
  client.write(get.repeat(500));
  for (let answer = 0; answer < 500; answer++) assert.equal((await client.readResponse()).status, 200);
});

const holders: readonly (readonly [name: string, request: string])[] = [
  ['send nothing', ''],
  ['keep theirs after an answer', get],
  ['never close theirs', closing],
  ['occupy the control plane', 'GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n'],
];
for (const [name, request] of holders) {
  test(`a probe is answered while clients with 520 connections ${name}`, async () => {
    const clients = await hold(request);
    for (let probe = 0; probe < 3; probe++) {
      using client = await openClient(port);
      assert.equal(await statusOf(client, closing), 200);
    }
    for (const client of clients) client.close();
  });
}

test('a connection whose client has read its last answer and does not close is closed', async () => {
  using client = await openClient(port);
  await statusOf(client, closing);
  const closed = new Promise<void>((resolve) => client.socket.once('close', () => resolve()));
  // A write is answered with a reset once the gateway has closed.
  const poke = setInterval(() => client.write('x'), 100);
  await closed.finally(() => clearInterval(poke));
});

test('no more is read from a client that pipelines and reads no answer', async () => {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => socket.destroy());
  const flood = Buffer.from(get.repeat(1000));
  const stopped = Promise.withResolvers<void>();
  const quiet = setTimeout(stopped.resolve, 1500);
  const write = (): void => {
    quiet.refresh();
    while (!socket.destroyed && socket.write(flood));
    // More than what the kernel holds in both directions.
    if (socket.bytesWritten > 64 * 2 ** 20) stopped.reject(new Error('the gateway continues to read'));
  };
  socket.on('drain', write);
  write();
  await stopped.promise.finally(() => socket.destroy());
  clearTimeout(quiet);
});
