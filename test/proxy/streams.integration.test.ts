import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { startedMessage } from '../../src/cli/commands/started-message.ts';
import { loadSettings } from '../../src/shared/settings/sources/load.ts';
import { freePort } from '../support/free-port.ts';
import { startTestGateway } from '../support/gateway.ts';
import { type BackendConnection, type RawBackend, startRawBackend } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type StreamRig, startStreamRig } from '../support/stream-rig.ts';
import { until } from '../support/until.ts';

/** Echoes bytes and the end of the stream. */
async function echo({ socket }: BackendConnection): Promise<void> {
  socket.pipe(socket);
}

/** The backend's side of the latest connection. */
async function newest(backend: RawBackend, before: number): Promise<BackendConnection> {
  if (backend.connections.length <= before) await once(backend.server, 'connection');
  const connection = backend.connections[before];
  assert.ok(connection !== undefined);
  return connection;
}

describe('a plain stream', () => {
  let rig: StreamRig;
  let echoing: RawBackend;
  let silent: RawBackend;
  let port = 0;
  before(async () => {
    rig = await startStreamRig(['', '']);
    port = rig.ports[0]!;
    echoing = await startRawBackend(echo);
    silent = await startRawBackend(() => {});
    await rig.route('echo', { port: echoing.port }, { destinations: [{ port }] });
    await rig.route('silent', { port: silent.port }, { destinations: [{ port: rig.ports[1] }] });
  });
  after(async () => {
    await rig.close();
    await echoing.close();
    await silent.close();
  });

  it('goes to the service of the route for its port, and is logged', async () => {
    using client = await openClient(port);
    client.write('hello');
    assert.equal(await client.reader.readExactly(5), 'hello');
    client.end();
    assert.deepEqual(await client.readToEnd(), { text: '', kind: 'end' });
    const { proxyStreamAccessLog } = rig.gateway.settings;
    const line = /^127\.0\.0\.1 \[[^\]]+\] TCP 200 5 5 \d+\.\d{3}$/m;
    await until(async () => line.test(await readFile(proxyStreamAccessLog, 'utf8').catch(() => '')));
  });

  it('forwards bytes when the server sends first', async () => {
    const count = silent.connections.length;
    using client = await openClient(rig.ports[1]!);
    const server = await newest(silent, count);
    server.write('220 ready\r\n');
    assert.equal(await client.reader.readUntil('\r\n'), '220 ready\r\n');
  });

  it('forwards the end of one side while the other continues', async () => {
    let count = silent.connections.length;
    using client = await openClient(rig.ports[1]!);
    let server = await newest(silent, count);
    client.write('request');
    client.end();
    assert.deepEqual(await server.reader.readToEnd(), { text: 'request', kind: 'end' });
    server.write('late ');
    server.end('answer');
    assert.deepEqual(await client.readToEnd(), { text: 'late answer', kind: 'end' });

    count = silent.connections.length;
    using other = await openClient(rig.ports[1]!);
    server = await newest(silent, count);
    server.end('only this');
    assert.deepEqual(await other.readToEnd(), { text: 'only this', kind: 'end' });
    await other.send('thanks');
    assert.equal(await server.reader.readExactly(6), 'thanks');
    other.end();
    assert.equal((await server.reader.readToEnd()).kind, 'end');
  });

  it('forwards a reset of either side', async () => {
    let count = silent.connections.length;
    using client = await openClient(rig.ports[1]!);
    let server = await newest(silent, count);
    client.write('x');
    await server.reader.readExactly(1);
    client.reset();
    assert.equal((await server.reader.readToEnd()).kind, 'reset');

    count = silent.connections.length;
    using other = await openClient(rig.ports[1]!);
    server = await newest(silent, count);
    server.write('part');
    await other.reader.readExactly(4);
    server.reset();
    assert.equal((await other.readToEnd()).kind, 'reset');
  });

  it('forwards megabytes both ways at once without changes', async () => {
    const bytes = randomBytes(32 << 20);
    using client = await openClient(port);
    const hash = createHash('sha256');
    client.socket.on('data', (data: Buffer) => hash.update(data));
    client.socket.end(bytes);
    await once(client.socket, 'end');
    assert.equal(hash.digest('hex'), createHash('sha256').update(bytes).digest('hex'));
  });

  it('stops reading from one side when the other does not read', async () => {
    const count = silent.connections.length;
    using client = await openClient(rig.ports[1]!);
    const server = await newest(silent, count);
    server.reader.pause();
    const piece = Buffer.alloc(1 << 20);
    let taken = 0;
    const send = (): void => {
      taken++;
      if (taken < 256) client.socket.write(piece, send);
    };
    send();
    let last = -1;
    let since = 0;
    // Socket buffers hold some megabytes; then the transfer must stop.
    await until(() => {
      if (taken !== last) since = performance.now();
      last = taken;
      return performance.now() - since > 200;
    });
    assert.ok(taken < 64, `${taken} MiB were taken`);
    server.reader.resume();
    await until(() => taken > last);
  });

  it('is closed when no route matches', async () => {
    await rig.route('silent', { port: silent.port }, { destinations: [{ port: 1 }] });
    using client = await openClient(rig.ports[1]!);
    assert.deepEqual(await client.readToEnd(), { text: '', kind: 'end' });
    await rig.route('silent', { port: silent.port }, { destinations: [{ port: rig.ports[1] }] });
  });

  it('stays with its service when the route changes', async () => {
    using client = await openClient(port);
    client.write('a');
    await client.reader.readExactly(1);
    await rig.write('DELETE', '/routes/echo');
    client.write('b');
    assert.equal(await client.reader.readExactly(1), 'b');
    await rig.route('echo', { port: echoing.port }, { destinations: [{ port }] });
  });

  it('tries other targets when one cannot be reached', async () => {
    const dead = await freePort();
    await rig.write('PUT', '/upstreams/pool', {});
    for (const target of [`127.0.0.1:${dead}`, `127.0.0.1:${echoing.port}`]) {
      await rig.write('POST', '/upstreams/pool/targets', { target });
    }
    await rig.route('echo', { host: 'pool', retries: 1 }, { destinations: [{ port }] });
    for (let turn = 0; turn < 4; turn++) {
      using client = await openClient(port);
      client.write('x');
      assert.equal(await client.reader.readExactly(1), 'x');
    }
    await rig.route('echo', { host: '127.0.0.1', port: dead, retries: 2 }, { destinations: [{ port }] });
    using client = await openClient(port);
    assert.equal((await client.readToEnd()).text, '');
    await rig.route('echo', { port: echoing.port, host: 'localhost' }, { destinations: [{ port }] });
    using named = await openClient(port);
    named.write('y');
    assert.equal(await named.reader.readExactly(1), 'y');
    await rig.route('echo', { port: echoing.port }, { destinations: [{ port }] });
  });

  it('counts towards the health of a target that it cannot reach', async () => {
    const dead = `127.0.0.1:${await freePort()}`;
    const passive = { unhealthy: { tcp_failures: 1 } };
    await rig.write('PUT', '/upstreams/watched', { healthchecks: { passive } });
    for (const target of [dead, `127.0.0.1:${echoing.port}`]) {
      await rig.write('POST', '/upstreams/watched/targets', { target });
    }
    await rig.route('echo', { host: 'watched', retries: 1 }, { destinations: [{ port }] });
    await until(async () => {
      using client = await openClient(port);
      client.write('x');
      await client.reader.readExactly(1);
      const { body } = await rig.gateway.admin('GET', '/upstreams/watched/health');
      const targets = body['data'] as readonly { readonly target: string; readonly health: string }[];
      return targets.some((one) => one.target === dead && one.health === 'UNHEALTHY');
    });
    await rig.route('echo', { port: echoing.port }, { destinations: [{ port }] });
  });

  it('ends when it has been idle for read_timeout, and not before', async () => {
    await rig.route('echo', { port: echoing.port, read_timeout: 300 }, { destinations: [{ port }] });
    using client = await openClient(port);
    const begun = performance.now();
    while (performance.now() - begun < 450) {
      client.write('x');
      await client.reader.readExactly(1);
    }
    const last = performance.now();
    assert.equal((await client.readToEnd()).text, '');
    assert.ok(performance.now() - last > 250);
    await rig.route('echo', { port: echoing.port }, { destinations: [{ port }] });
  });

  it('ends when a side reads nothing for write_timeout', async () => {
    await rig.route('silent', { port: silent.port, write_timeout: 300 }, { destinations: [{ port: rig.ports[1] }] });
    const count = silent.connections.length;
    using client = await openClient(rig.ports[1]!);
    const server = await newest(silent, count);
    server.reader.pause();
    const flood = (socket: Socket): void => {
      if (!socket.destroyed) socket.write(Buffer.alloc(1 << 20), () => flood(socket));
    };
    flood(client.socket);
    await client.readToEnd();
    await rig.route('silent', { port: silent.port }, { destinations: [{ port: rig.ports[1] }] });
  });

  it('is refused by ip-restriction when an instance for streams says so', async () => {
    const denied = { name: 'ip-restriction', config: { deny: ['127.0.0.0/8'] } };
    const plugin = await rig.write('POST', '/plugins', { ...denied, protocols: ['http'] });
    using client = await openClient(port);
    client.write('x');
    assert.equal(await client.reader.readExactly(1), 'x');
    await rig.write('PATCH', `/plugins/${plugin['id']}`, { protocols: ['tcp'] });
    using refused = await openClient(port);
    assert.equal((await refused.readToEnd()).text, '');
    client.write('y');
    assert.equal(await client.reader.readExactly(1), 'y');
    await rig.write('DELETE', `/plugins/${plugin['id']}`);
  });

  it('counts as an active connection, with hundreds at once', async () => {
    const clients = await Promise.all(Array.from({ length: 300 }, () => openClient(port)));
    for (const client of clients) client.write('x');
    for (const client of clients) assert.equal(await client.reader.readExactly(1), 'x');
    const status = await fetch(`${rig.gateway.statusUrl}/status`).then((answer) => answer.json());
    const { server } = status as { readonly server: Readonly<Record<string, number>> };
    assert.ok((server['connections_active'] ?? 0) >= 300);
    assert.ok((server['connections_waiting'] ?? 0) < 300);
    for (const client of clients) client.close();
  });
});

describe('draining', () => {
  it('lets streams finish, and closes those that exceed the timeout', async () => {
    const backend = await startRawBackend(echo);
    const rig = await startStreamRig([''], { drainTimeout: 500 });
    await rig.route('echo', { port: backend.port }, { destinations: [{ port: rig.ports[0] }] });
    using quick = await openClient(rig.ports[0]!);
    using slow = await openClient(rig.ports[0]!);
    for (const client of [quick, slow]) {
      client.write('x');
      await client.reader.readExactly(1);
    }
    const begun = performance.now();
    const stopped = rig.gateway.gateway.stop(true);
    quick.write('last');
    quick.end();
    assert.deepEqual(await quick.readToEnd(), { text: 'last', kind: 'end' });
    await slow.readToEnd();
    assert.ok(performance.now() - begun > 400);
    await stopped;
    await rig.close();
    await backend.close();
  });
});

describe('the listeners of streams', () => {
  it('use the syntax of Kong, and appear with their ports in GET / and in the log at start', async () => {
    const env = { KONG_STREAM_LISTEN: '127.0.0.1:0 reuseport, 127.0.0.1:0 udp' };
    await using gateway = await startTestGateway({ env });
    const ports = gateway.gateway.addresses.stream.map((address) => address.port);
    assert.ok(ports.length === 2 && ports.every((port) => port > 0));
    const { body } = await gateway.admin('GET', '/');
    const { stream_listeners: shown } = body['configuration'] as Readonly<Record<string, readonly unknown[]>>;
    const seen = shown?.map((listener) => listener as Readonly<Record<string, unknown>>);
    assert.deepEqual(
      seen?.map(({ port, udp, reuseport }) => ({ port, udp, reuseport })),
      [
        { port: ports[0], udp: false, reuseport: true },
        { port: ports[1], udp: true, reuseport: false },
      ],
    );
    const lines = startedMessage(gateway.settings, gateway.gateway.addresses);
    assert.ok(
      lines.includes(`  stream     tcp://127.0.0.1:${ports[0]}  udp://127.0.0.1:${ports[1]}`),
      lines.join('\n'),
    );
  });

  it('must not conflict with other listeners', () => {
    const load = (stream: string): unknown =>
      loadSettings({ env: { KONG_STREAM_LISTEN: stream }, cwd: import.meta.dirname });
    assert.throws(() => load('0.0.0.0:8000'), {
      message: 'stream_listen and proxy_listen both name port 8000 of 0.0.0.0',
    });
    assert.throws(() => load('0.0.0.0:53 udp ssl'), { message: /udp goes with neither ssl nor proxy_protocol/ });
    load('0.0.0.0:8000 udp, 0.0.0.0:53 udp, 0.0.0.0:53');
  });
});

describe('a worker with the maximum number of streams', () => {
  it('closes further ones at once, logs it, and accepts one when another has ended', async () => {
    await using rig = await startStreamRig([''], { workerConnections: 3 });
    const backend = await startRawBackend(echo);
    const [port = 0] = rig.ports;
    await rig.route('echo', { port: backend.port }, { destinations: [{ port }] });
    const clients = await Promise.all(Array.from({ length: 3 }, () => openClient(port)));
    for (const client of clients) {
      client.write('x');
      assert.equal(await client.reader.readExactly(1), 'x');
    }
    using late = await openClient(port);
    assert.equal((await late.readToEnd()).text, '');
    const told = async (): Promise<boolean> =>
      /stream closed: too many open streams in this worker/.test(
        await readFile(rig.gateway.settings.proxyErrorLog, 'utf8'),
      );
    await until(told);
    clients[0]?.end();
    await clients[0]?.readToEnd();
    await until(async () => {
      using next = await openClient(port);
      next.write('y');
      next.end();
      return (await next.readToEnd()).text === 'y';
    });
    for (const client of clients) client.close();
    await backend.close();
  });
});
