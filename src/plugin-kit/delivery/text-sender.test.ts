import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { CertificateAuthority } from '../../../test/support/certificate-authority.ts';
import { until } from '../../../test/support/until.ts';
import { type TextSenderOptions, textSender } from './text-sender.ts';

interface Receiver extends Disposable {
  readonly server: Server;
  readonly port: number;
  readonly connections: Socket[];
  readonly received: string[];
}

async function listening(server: Server, at: { path: string } | { port: number; host: string }): Promise<Receiver> {
  const connections: Socket[] = [];
  const received: string[] = [];
  server.on(
    server.listeners('secureConnection').length > 0 || 'setSecureContext' in server ? 'secureConnection' : 'connection',
    (socket: Socket) => {
      const serial = connections.push(socket) - 1;
      received.push('');
      socket.on('error', () => {});
      socket.setEncoding('utf8').on('data', (text: string) => {
        received[serial] += text;
      });
    },
  );
  server.listen(at);
  await once(server, 'listening');
  const end = (): void => {
    server.close();
    for (const socket of connections) socket.destroy();
  };
  return { server, port: (server.address() as AddressInfo).port, connections, received, [Symbol.dispose]: end };
}

const loopback = { port: 0, host: '127.0.0.1' };
const { signal } = new AbortController();
const plain = (port: number, more: Partial<TextSenderOptions> = {}) =>
  textSender({ to: { host: '127.0.0.1', port }, tls: null, timeout: 5_000, keepalive: 60_000, ...more });

test('texts go over one connection, in order', async () => {
  using to = await listening(createServer(), loopback);
  const sender = plain(to.port, { greeting: 'hello\n' });
  await Promise.all([sender.send('a\n', signal), sender.send('é\n', signal)]);
  await sender.send('c\n', signal);
  await until(() => to.received[0] === 'hello\na\né\nc\n');
  assert.equal(to.connections.length, 1);
  sender.close();
  await once(to.connections[0]!, 'close');
  await assert.rejects(sender.send('d', signal), /closed/);
});

test('a Unix socket that takes streams is a receiver, too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'text-sender-'));
  {
    const path = join(folder, 'log');
    using to = await listening(createServer(), { path });
    const sender = textSender({ to: { path }, tls: null, timeout: 5_000, keepalive: 0 });
    await sender.send('a', signal);
    await until(() => to.received[0] === 'a');
    sender.close();
  }
  rmSync(folder, { recursive: true });
});

test('after the receiver has closed a new connection is made; an idle one is closed after its time', async () => {
  using to = await listening(createServer(), loopback);
  const sender = plain(to.port, { keepalive: 20 });
  await sender.send('a', signal);
  await until(() => to.received[0] === 'a');
  to.connections[0]!.destroy();
  await until(async () => {
    await sender.send('b', signal).catch(() => {});
    return to.connections.length > 1;
  });
  await once(to.connections[1]!, 'end');
  await sender.send('c', signal);
  await until(() => to.received[2] === 'c');
  sender.close();
});

test('who is not there, does not take, or answers on and on, is an error', async () => {
  using gone = await listening(createServer(), loopback);
  const { port } = gone;
  gone[Symbol.dispose]();
  await assert.rejects(plain(port).send('a', signal), /ECONNREFUSED/);
  await assert.rejects(
    textSender({ to: { path: '/nowhere/log' }, tls: null, timeout: 100, keepalive: 0 }).send('a', signal),
    /ENOENT/,
  );

  using lazy = await listening(createServer({ pauseOnConnect: true }), loopback);
  lazy.server.removeAllListeners('connection').on('connection', (socket: Socket) => void lazy.connections.push(socket));
  await assert.rejects(plain(lazy.port, { timeout: 50 }).send('x'.repeat(32 << 20), signal), /takes nothing any more/);

  const talker = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('x'.repeat(1 << 20));
  });
  using talking = await listening(talker, loopback);
  const sender = plain(talking.port);
  await until(async () => {
    const connections = talking.connections.length;
    await sender.send('a', signal).catch(() => {});
    return connections > 2;
  });
  sender.close();
});

test('a text that is given up is cut off with its connection', async () => {
  using lazy = await listening(createServer({ pauseOnConnect: true }), loopback);
  lazy.server.removeAllListeners('connection').on('connection', (socket: Socket) => void lazy.connections.push(socket));
  const abort = new AbortController();
  const sent = plain(lazy.port).send('x'.repeat(32 << 20), abort.signal);
  await until(() => lazy.connections.length === 1);
  abort.abort();
  await assert.rejects(sent, /aborted|closed/);
  await assert.rejects(plain(lazy.port).send('x', abort.signal), { name: 'AbortError' });
});

test('over TLS the certificate has to be for the name, by a trusted authority, unless that is not asked for', async () => {
  using authority = new CertificateAuthority();
  const names: unknown[] = [];
  const server = createTlsServer(authority.issue('logs.test'), (socket) => names.push(socket.servername));
  using to = await listening(server, loopback);
  const over = (serverName: string | null, verify: boolean, trustedCertificates: string | null) =>
    plain(to.port, { tls: { serverName, verify, trustedCertificates } });
  const good = over('logs.test', true, authority.file);
  await good.send('a', signal);
  await until(() => to.received.includes('a'));
  assert.equal(names[0], 'logs.test');
  await assert.rejects(over('other.test', true, authority.file).send('b', signal), /altname/i);
  await assert.rejects(over('logs.test', true, null).send('c', signal), /verify|issuer/i);
  const careless = over(null, false, null);
  await careless.send('d', signal);
  await until(() => to.received.includes('d'));
  assert.doesNotMatch(to.received.join(), /[bc]/);
  good.close();
  careless.close();
  await assert.rejects(over(null, true, '/nowhere/ca.pem').send('e', signal), /ENOENT/);
});

test('a receiver that never ends the handshake is given up in time', async () => {
  using to = await listening(createServer(), loopback);
  const sender = plain(to.port, { tls: { serverName: 'a', verify: true, trustedCertificates: null }, timeout: 50 });
  await assert.rejects(sender.send('a', signal), /connect time-out/);
});
