import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type PluginTest, testPlugin } from '../../plugin-testing/index.ts';
import ldapAuth from './index.ts';

/** Answers to messages 1 and 2, and the head of an answer of 65,000 bytes to message 1. */
const success = Buffer.from('300c02010161070a010004000400', 'hex');
const secondSuccess = Buffer.from('300c02010261070a010004000400', 'hex');
const startTlsAccepted = Buffer.from('300c02010178070a010004000400', 'hex');
const longAnswer = Buffer.from('3082fde8020101', 'hex');
const timeout = 400;

interface Rig extends AsyncDisposable {
  readonly plugin: PluginTest;
  /** Connections that the server has accepted, the first one first. */
  readonly sockets: readonly Socket[];
}

/** The plugin, and an LDAP server that does what the test says with the bytes of each connection. */
async function against(
  answer: (socket: Socket, connection: number) => unknown,
  config: Readonly<Record<string, unknown>> = {},
): Promise<Rig> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', () => answer(socket, connection));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const plugin = testPlugin(ldapAuth, {
    config: {
      ldap_host: '127.0.0.1',
      ldap_port: address.port,
      base_dn: 'dc=example,dc=test',
      attribute: 'uid',
      cache_ttl: 0,
      timeout,
      ...config,
    },
  });
  return {
    plugin,
    sockets,
    async [Symbol.asyncDispose]() {
      await plugin.dispose();
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function login(plugin: PluginTest) {
  const credentials = Buffer.from('ada:secret').toString('base64');
  return plugin.request({ headers: { Authorization: `ldap ${credentials}` } });
}

/** Sends the login; it must be answered with 503 within about the timeout. The reason in the error log. */
async function refused({ plugin }: Rig): Promise<string> {
  const begun = performance.now();
  const { response, upstream } = await login(plugin);
  assert.equal(upstream, null);
  assert.equal(response.status, 503);
  assert.ok(performance.now() - begun < timeout + 3000);
  return String(plugin.logLines[0]?.fields['reason']);
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}

/** Writes for as long as the connection lives; counts the bytes. */
function flood(socket: Socket, bytes: Buffer): { sent: number } {
  const count = { sent: 0 };
  const more = (): void => {
    while (!socket.destroyed && count.sent < 1_000_000_000) {
      count.sent += bytes.byteLength;
      if (!socket.write(bytes)) return;
    }
  };
  socket.on('drain', more);
  more();
  return count;
}

test('ends a connection on which an answer never ends', async () => {
  let sent = { sent: 0 };
  await using rig = await against((socket) => {
    socket.removeAllListeners('data');
    socket.write(longAnswer);
    sent = flood(socket, Buffer.alloc(16_384));
  });
  assert.match(await refused(rig), /unexpected response|more than its answer/);
  // What the kernel buffers of both sides hold is beyond the answer.
  assert.ok(sent.sent < 50_000_000, `${sent.sent} bytes`);
});

test('gives up an answer that comes in drops', async () => {
  await using rig = await against(async (socket) => {
    socket.removeAllListeners('data');
    socket.setNoDelay(true);
    socket.write(longAnswer);
    while (!socket.destroyed) {
      socket.write(Buffer.alloc(1));
      await nextTurn();
    }
  });
  assert.match(await refused(rig), /no answer in 400 ms|unexpected response/);
  await closed(rig.sockets[0] as Socket);
});

test('ends an idle connection on which the server sends something, and the next login has a new one', async () => {
  await using rig = await against((socket) => socket.write(success));
  assert.notEqual((await login(rig.plugin)).upstream, null);
  // The answer to the next login, before it is sent.
  rig.sockets[0]?.write(secondSuccess);
  await closed(rig.sockets[0] as Socket);
  assert.notEqual((await login(rig.plugin)).upstream, null);
  assert.equal(rig.sockets.length, 2);
});

test('accepts no login by an answer that was sent ahead', async () => {
  await using rig = await against((socket, connection) => {
    if (connection === 1) socket.write(Buffer.concat([success, secondSuccess]));
  });
  assert.match(await refused(rig), /more than its answer/);
  assert.match(await refused(rig), /more than its answer|no answer/);
});

for (const [what, config] of [
  ['from the first byte', { ldaps: true }],
  ['after StartTLS', { start_tls: true }],
] as const) {
  test(`gives up a TLS handshake without end, ${what}`, async () => {
    await using rig = await against((socket) => {
      if ('start_tls' in config) socket.write(startTlsAccepted);
      socket.removeAllListeners('data');
      socket.resume();
    }, config);
    assert.equal(await refused(rig), 'no answer in 400 ms');
  });

  test(`ends a connection whose TLS handshake is garbage, ${what}`, async () => {
    await using rig = await against((socket) => {
      socket.removeAllListeners('data');
      const garbage = (): unknown => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      if ('ldaps' in config) return garbage();
      socket.write(startTlsAccepted);
      return socket.once('data', garbage);
    }, config);
    assert.match(await refused(rig), /SSL|ssl/);
  });
}

test('refuses logins beyond its connections in time while the server accepts and says nothing', async () => {
  await using rig = await against(() => {});
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: 40 }, () => login(rig.plugin)));
  assert.deepEqual(new Set(answers.map(({ response }) => response.status)), new Set([503]));
  assert.ok(performance.now() - begun < timeout + 3000);
  assert.ok(rig.sockets.length <= 16);
});
