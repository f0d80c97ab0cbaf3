import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get as httpGet, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { openHttp2, readAnswer } from '../support/http2-client.ts';

/** Longer than any test, so only the steps of the test trigger what happens. */
const long = 600_000;

let backend: TestBackend;
before(async () => {
  backend = await startBackend();
});
after(() => backend.close());

async function startNode(): Promise<TestGateway> {
  const env = { KONG_PROXY_LISTEN: '127.0.0.1:0 http2' };
  const node = await startTestGateway({ env });
  assert.equal((await node.admin('PUT', '/services/s', { url: backend.url })).status, 200);
  assert.equal((await node.admin('PUT', '/services/s/routes/r', { paths: ['/'] })).status, 200);
  return node;
}

async function get(port: number, agent: Agent | false): Promise<IncomingMessage> {
  const request = httpGet({ port, host: '127.0.0.1', path: '/', agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response;
}

async function refused(port: number): Promise<void> {
  const socket: Socket = connect(port, '127.0.0.1');
  await assert.rejects(once(socket, 'connect'), { code: 'ECONNREFUSED' });
}

describe('a node that is stopping', () => {
  test('reports not ready, still serves, and tells clients to reconnect', async () => {
    await using node = await startNode();
    const agent = new Agent({ keepAlive: true });
    assert.notEqual((await get(node.proxyPort, agent)).headers.connection, 'close');
    const http2 = await openHttp2(node.proxyPort);
    assert.equal((await readAnswer(http2.open('/', {}, true))).status, 200);
    const goaway = once(http2.session, 'goaway');
    const stopped = node.gateway.stop(true, long);
    const [code, lastStream] = await goaway;
    assert.deepEqual([code, lastStream], [0, 2 ** 31 - 1]);
    const ready = await fetch(`${node.statusUrl}/status/ready`);
    assert.equal(ready.status, 503);
    assert.deepEqual(await ready.json(), { message: 'the node is stopping' });
    // Idle connections from before the stop still work, and so do new ones.
    for (const from of [agent, false] as const) {
      const answer = await get(node.proxyPort, from);
      assert.equal(answer.statusCode, 200);
      assert.equal(answer.headers.connection, 'close');
    }
    await http2.close();
    agent.destroy();
    await node.gateway.stop(false);
    await stopped;
  });

  test('serves streams of a session after its first GOAWAY', async () => {
    await using node = await startNode();
    const http2 = await openHttp2(node.proxyPort);
    const goaway = once(http2.session, 'goaway');
    const stopped = node.gateway.stop(true, long);
    const early = readAnswer(http2.open('/', {}, true));
    await goaway;
    assert.equal((await early).status, 200);
    await http2.close();
    await node.gateway.stop(false);
    await stopped;
  });

  test('waits for the first request of an accepted connection', async () => {
    await using node = await startNode();
    const socket = connect(node.proxyPort, '127.0.0.1');
    await once(socket, 'connect');
    const stopped = node.gateway.stop(true, 0);
    // The listeners are closed, so the connection has been accepted.
    for (;;) {
      const late = connect(node.proxyPort, '127.0.0.1');
      const failed = await once(late, 'connect').then(
        () => false,
        () => true,
      );
      late.destroy();
      if (failed) break;
    }
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [head] = (await once(socket, 'data')) as [Buffer];
    assert.match(String(head), /^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/);
    await stopped;
  });

  test('closes its listeners after the delay, and exits', async () => {
    await using node = await startNode();
    await node.gateway.stop(true, 50);
    await refused(node.proxyPort);
  });
});
