import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type EchoClient, type GrpcBackend, grpcClient, startGrpcBackend } from '../support/grpc.ts';
import { openHttp2, readAnswer } from '../support/http2-client.ts';
import { openWebSocket } from '../support/websocket-client.ts';

const drainTimeout = 400;

let backend: TestBackend;
let grpc: GrpcBackend;
let sockets: WebSocketServer;
/** How the backend saw its WebSockets end. */
let closedAtBackend: Promise<number>;

before(async () => {
  backend = await startBackend({
    handler(request, response) {
      response.writeHead(200, { 'Content-Type': request.url === '/events' ? 'text/event-stream' : 'text/plain' });
      response.write('data: 1\n\ndata: incompl');
    },
  });
  sockets = new WebSocketServer({ server: backend.server });
  sockets.on('connection', (socket) => {
    closedAtBackend = once(socket, 'close').then(([code]) => code as number);
    socket.on('error', () => {});
    socket.on('message', (data) => socket.send(data));
  });
  grpc = await startGrpcBackend({
    unary: () => {},
    collect: () => {},
    count: (call: { write(message: object): void }) => call.write({ text: 'one', data: Buffer.alloc(0), count: 1 }),
    talk: () => {},
  });
});

after(async () => {
  sockets.close();
  for (const socket of sockets.clients) socket.terminate();
  await backend.close();
  await grpc[Symbol.asyncDispose]();
});

async function startNode(): Promise<TestGateway> {
  const env = { KONG_PROXY_LISTEN: '127.0.0.1:0 http2', SLUICEGATE_DRAIN_TIMEOUT: `${drainTimeout}ms` };
  const node = await startTestGateway({ env });
  await node.admin('PUT', '/services/s', { url: backend.url });
  await node.admin('PUT', '/services/s/routes/r', { paths: ['/'], strip_path: false });
  await node.admin('PUT', '/services/grpc', { url: `grpc://127.0.0.1:${grpc.port}` });
  await node.admin('PUT', '/services/grpc/routes/grpc', { paths: ['/echo.v1.Echo'], protocols: ['grpc'] });
  return node;
}

async function open(node: TestGateway, path: string): Promise<IncomingMessage> {
  const sent = get({ port: node.proxyPort, host: '127.0.0.1', path, agent: false });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await once(response, 'readable');
  return response;
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return text;
}

describe('at the end of the drain timeout', () => {
  for (const endpoint of ['HTTP/1.1', 'HTTP/2'] as const) {
    test(`a WebSocket over ${endpoint} is closed with 1001 on both sides`, async () => {
      await using node = await startNode();
      const socket: WebSocket = await openWebSocket(endpoint, node, '/socket');
      socket.send('hello');
      await once(socket, 'message');
      const closed = once(socket, 'close');
      const stopped = node.gateway.stop(true, 0);
      assert.deepEqual((await closed)[0], 1001);
      assert.equal(await closedAtBackend, 1001);
      await stopped;
    });
  }

  test('a WebSocket serves until then', async () => {
    await using node = await startNode();
    const socket = await openWebSocket('HTTP/1.1', node, '/socket');
    const begun = performance.now();
    const stopped = node.gateway.stop(true, 0);
    socket.send('late');
    assert.equal(String((await once(socket, 'message'))[0]), 'late');
    await once(socket, 'close');
    assert.ok(performance.now() - begun >= drainTimeout / 2 - 20);
    await stopped;
  });

  test('an event stream over HTTP/1.1 ends completely', async () => {
    await using node = await startNode();
    const response = await open(node, '/events');
    const stopped = node.gateway.stop(true, 0);
    assert.equal(await bodyOf(response), 'data: 1\n\ndata: incompl');
    assert.equal(response.complete, true);
    await stopped;
  });

  test('an event stream over HTTP/2 ends completely', async () => {
    await using node = await startNode();
    await using client = await openHttp2(node.proxyPort);
    const stream = client.open('/events', {}, true);
    const answer = readAnswer(stream);
    await once(stream, 'data');
    const stopped = node.gateway.stop(true, 0);
    const { code, body } = await answer;
    assert.equal(code, 0);
    assert.match(String(body), /^data: 1\n\n/);
    await stopped;
  });

  test('any other answer is broken off, so that it does not look complete', async () => {
    await using node = await startNode();
    const response = await open(node, '/download');
    const stopped = node.gateway.stop(true, 0);
    await assert.rejects(bodyOf(response), { code: 'ECONNRESET' });
    assert.equal(response.complete, false);
    await stopped;
  });

  test('a gRPC stream ends with the status UNAVAILABLE', async () => {
    await using node = await startNode();
    using client: EchoClient & Disposable = grpcClient(node.proxyPort);
    const call = client.count({ text: '', data: Buffer.alloc(0), count: 1 });
    call.on('error', () => {}).resume();
    const ended = new Promise<{ code: number; details: string }>((resolve) => call.once('status', resolve));
    await once(call, 'metadata');
    const stopped = node.gateway.stop(true, 0);
    const { code, details } = await ended;
    // For a broken connection the client itself has this code, with other details.
    assert.deepEqual([code, details], [14, 'Unavailable']);
    await stopped;
  });
});
