import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { startBackend } from '../support/backend.ts';
import { startGrpcBackend } from '../support/grpc.ts';
import { Clients, grpcCalls, http1, http2Client, slowUpload, tcpStream, udpExchange } from '../support/load-clients.ts';
import { isAlive, startNodeInPrefix } from '../support/node-in-prefix.ts';
import { until } from '../support/until.ts';

const skip = process.platform === 'linux' ? false : 'needs file descriptors of Linux';

/** Answers with an event every 50 ms, and echoes the rest. */
async function startEvents() {
  return await startBackend({
    handler(request, response) {
      if (request.url !== '/events') {
        let length = 0;
        request.on('data', (piece: Buffer) => {
          length += piece.length;
        });
        request.on('end', () => response.end(`got ${length}`));
        return;
      }
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      let serial = 0;
      const timer = setInterval(() => response.write(`data: ${++serial}\n\n`), 50);
      response.on('close', () => clearInterval(timer));
    },
  });
}

/** The numbers of the events so far, and how the stream ended. */
async function listenForEvents(port: number) {
  const sent = get({ port, host: '127.0.0.1', path: '/events', agent: false });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const numbers: number[] = [];
  let failure: string | null = null;
  response.setEncoding('utf8').on('data', (text: string) => {
    for (const [, number] of text.matchAll(/data: (\d+)/g)) numbers.push(Number(number));
  });
  response.on('error', (error) => {
    failure = error.message;
  });
  sent.on('error', () => {});
  return { numbers, failure: () => failure, end: () => response.destroy() };
}

test('an upgrade under load of every kind of client loses no request', { skip }, async () => {
  using cleanup = new DisposableStack();
  await using backend = await startEvents();
  const sockets = new WebSocketServer({ server: backend.server });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  await using grpc = await startGrpcBackend({
    unary: (call: { request: unknown }, done: (error: null, value: unknown) => void) => done(null, call.request),
    collect: () => {},
    count: () => {},
    talk: () => {},
  });
  const tcp = createServer((socket) => void socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  const udp = createSocket('udp4');
  udp.on('message', (datagram, from) => udp.send(datagram, from.port, from.address));
  udp.bind(0, '127.0.0.1');
  await Promise.all([once(tcp, 'listening'), once(udp, 'listening')]);
  cleanup.defer(() => {
    sockets.close();
    tcp.close();
    udp.close();
  });
  await using node = await startNodeInPrefix({
    KONG_PROXY_LISTEN: '127.0.0.1:0 http2',
    KONG_STREAM_LISTEN: '127.0.0.1:0, 127.0.0.2:0 udp',
    KONG_NGINX_WORKER_PROCESSES: '2',
    KONG_PROXY_ACCESS_LOG: 'off',
    KONG_ADMIN_ACCESS_LOG: 'off',
  });
  const streams = /^ {2}stream +tcp:\/\/127\.0\.0\.1:(\d+) +udp:\/\/127\.0\.0\.2:(\d+)/m.exec(node.first.output());
  const [tcpPort, udpPort] = [Number(streams?.[1]), Number(streams?.[2])];
  await node.admin('PUT', '/services/http', { url: backend.url });
  await node.admin('PUT', '/services/http/routes/http', { paths: ['/echo', '/events', '/socket'], strip_path: false });
  await node.admin('PUT', '/services/grpc', { url: `grpc://127.0.0.1:${grpc.port}` });
  await node.admin('PUT', '/services/grpc/routes/grpc', { paths: ['/echo.v1.Echo'], protocols: ['grpc'] });
  for (const [name, protocol, port, to] of [
    ['tcp', 'tcp', tcpPort, (tcp.address() as AddressInfo).port],
    ['udp', 'udp', udpPort, udp.address().port],
  ] as const) {
    await node.admin('PUT', `/services/${name}`, { protocol, host: '127.0.0.1', port: to });
    await node.admin('PUT', `/services/${name}/routes/${name}`, { protocols: [protocol], destinations: [{ port }] });
  }
  const port = node.port('proxy');
  const old = await node.pid();

  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const session = http2Client(port);
  const channel = grpcCalls(port);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`);
  await once(socket, 'open');
  const events = await listenForEvents(port);
  using clients = new Clients();
  cleanup.defer(() => {
    events.end();
    socket.terminate();
    session.close();
    channel.close();
    agent.destroy();
  });
  clients.add('keep-alive', 4, () => http1(port, agent));
  clients.add('new connections', 2, () => http1(port, false));
  clients.add('HTTP/2', 3, () => session.step());
  clients.add('gRPC', 1, () => channel.step());
  clients.add('TCP stream', 1, () => tcpStream(tcpPort));
  // The status listener may close a connection that has sent nothing yet; probes try again.
  const probe = (): Promise<void> => http1(node.port('status'), false, '/status/ready');
  clients.add('status', 1, () => probe().catch(probe));
  clients.add('UDP', 1, async () => {
    await udpExchange('127.0.0.2', udpPort);
  });
  clients.add('WebSocket', 1, async () => {
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(5_000) });
    socket.send('hello');
    assert.equal(String((await answered)[0]), 'hello');
  });
  await clients.progress(5);
  const upload = slowUpload(port, 3_000);

  const { code, output } = await node.run('upgrade');
  assert.equal(code, 0, output);
  const now = await node.pid();
  assert.notEqual(now, old);
  assert.match(output, new RegExp(`process ${now} has taken over from ${old}`));
  await clients.progress(20);
  assert.ok(isAlive(old), 'the old process serves the WebSocket');
  assert.equal(await upload, 'got 20000');
  const seen = events.numbers.length;
  await until(() => events.numbers.length > seen);
  assert.deepEqual(await clients.stop(), []);
  assert.deepEqual(
    events.numbers,
    events.numbers.map((_, at) => at + 1),
  );
  assert.equal(events.failure(), null);

  // The old process ends with its last request.
  events.end();
  socket.close();
  session.close();
  channel.close();
  agent.destroy();
  await until(() => !isAlive(old), 20_000);
  await until(() => node.first.child.exitCode !== null);
  assert.equal(node.first.child.exitCode, 0, node.first.output());
  assert.deepEqual(await node.run('health').then(({ code: health }) => health), 0);
  await http1(port, false);
});
