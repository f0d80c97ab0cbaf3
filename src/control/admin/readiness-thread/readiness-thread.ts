import { flushCompileCache } from 'node:module';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { readFirstBytes } from '../../../shared/proxy-protocol/first-bytes.ts';
import { descriptorOf } from '../../../shared/sockets/listening-sockets.ts';
import { collectWhenIdle, hideGarbageCollector } from '../../../shared/util/process/collect-when-idle.ts';
import { sharedClock } from '../../../shared/util/time/clock.ts';
import { NodeVitals } from '../../../shared/zones/worker-vitals.ts';
import { notReadyReason } from '../../supervisor/readiness.ts';
import { inspectHead, maxHeadLength, type ReadyRequest } from './inspect-head.ts';
import type {
  FromReadinessThread,
  ReadinessThreadAddress,
  ReadinessThreadBoot,
  ToReadinessThread,
} from './messages.ts';
import { writePreface } from './preface.ts';
import { ReadinessConnections } from './readiness-connections.ts';

/** Timeout in milliseconds for the head of a request, also of the next one on a keep-alive connection. */
const headTimeout = 72_000;
/** Milliseconds without a byte in either direction on a connection that the control plane serves, which itself waits less. */
const forwardTimeout = 75_000;

const boot = workerData as ReadinessThreadBoot;
const vitals = new NodeVitals(boot.vitals);
const clock = sharedClock();
const connections = new ReadinessConnections();
const post = (message: FromReadinessThread): void => parentPort?.postMessage(message);

let handedOver = false;

function accept(socket: Socket): void {
  connections.accept(socket);
  serve(socket);
}

function serve(socket: Socket): void {
  const loopback = /^(?:::ffff:)?127\.|^::1$/.test(socket.localAddress ?? '');
  // The control plane decides about other names (DNS rebinding).
  const hostIsAllowed = (host: string): boolean =>
    !loopback || /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/i.test(host);
  readFirstBytes(socket, {
    inspect: (bytes) => inspectHead(bytes, hostIsAllowed),
    limit: maxHeadLength,
    timeout: headTimeout,
    done: (request) => {
      connections.used(socket);
      if (request !== null) answer(socket, request);
      else if (connections.forward(socket)) forward(socket);
      else refuse(socket);
    },
    failed: () => socket.destroy(),
  });
}

function answer(socket: Socket, { withBody, keepAlive: wanted }: ReadyRequest): void {
  const reason = handedOver ? null : notReadyReason(vitals, clock());
  const keepAlive = wanted && !handedOver;
  const body = JSON.stringify({ message: reason ?? 'ready' });
  const head = [
    reason === null ? 'HTTP/1.1 200 OK' : 'HTTP/1.1 503 Service Unavailable',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    ...(boot.serverHeader === null ? [] : [`server: ${boot.serverHeader}`]),
    ...(boot.latencyHeader ? ['x-kong-admin-latency: 0'] : []),
    `date: ${new Date().toUTCString()}`,
    ...(keepAlive ? ['connection: keep-alive', `keep-alive: timeout=${headTimeout / 1000}`] : ['connection: close']),
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${withBody ? body : ''}`);
  if (keepAlive) connections.whenRead(socket, () => serve(socket));
  else connections.end(socket);
}

function refuse(socket: Socket): void {
  const body = JSON.stringify({ message: 'too many connections' });
  socket.write(
    'HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json; charset=utf-8\r\n' +
      `content-length: ${body.length}\r\nretry-after: 1\r\nconnection: close\r\n\r\n${body}`,
  );
  connections.end(socket);
}

/** Forwards the rest of the connection to the control plane. */
function forward(socket: Socket): void {
  const inner = connect({ path: boot.socketPath, allowHalfOpen: true });
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = socket;
  inner.write(writePreface({ remoteAddress, remotePort, localAddress, localPort }));
  inner.on('error', () => socket.destroy());
  inner.on('close', () => socket.destroySoon());
  socket.on('close', () => inner.destroy());
  socket.setTimeout(forwardTimeout, () => socket.destroy());
  socket.pipe(inner);
  inner.pipe(socket);
}

function listen(address: ReadinessThreadAddress): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const { ip: host, port, backlog, ipv6only: ipv6Only, reuseport: reusePort, descriptor } = address;
    const opened = (): void => {
      server.off('error', reject);
      // A connection that could not be accepted does not affect others.
      server.on('error', () => {});
      resolve(server);
    };
    if (descriptor !== null) server.listen({ fd: descriptor }, backlog, opened);
    else server.listen({ host, port, backlog, ipv6Only, reusePort }, opened);
  });
}

try {
  const servers = await Promise.all(boot.addresses.map(listen));
  parentPort?.on('message', (message: ToReadinessThread) => {
    handedOver ||= message === 'hand-over';
    for (const server of servers) server.close();
  });
  const sockets = servers.map((server) => {
    const bound = server.address();
    return { port: bound !== null && typeof bound === 'object' ? bound.port : 0, descriptor: descriptorOf(server) };
  });
  post({ type: 'listening', sockets });
  // Saves stripping types and compiling at the next start, which takes longer than everything else.
  flushCompileCache();
  hideGarbageCollector();
  collectWhenIdle(() => 0);
} catch (error) {
  post({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
}
