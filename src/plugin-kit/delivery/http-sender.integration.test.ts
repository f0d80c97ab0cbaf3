import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { after, mock, test } from 'node:test';
import tlsModule from 'node:tls';
import { CertificateAuthority } from '../../../test/support/certificate-authority.ts';
import {
  answer,
  answerEach,
  type BackendScript,
  type RawBackend,
  startRawBackend,
} from '../../../test/support/raw-backend.ts';
import { startSynBlackHole } from '../../../test/support/syn-black-hole.ts';
import { until } from '../../../test/support/until.ts';
import { type HttpSender, type HttpSenderOptions, httpSender, SenderFailed } from './http-sender.ts';

const open: (() => unknown)[] = [];
after(() => Promise.all(open.map((close) => close())));

async function receiver(script?: BackendScript): Promise<RawBackend> {
  const backend = await startRawBackend(script);
  open.push(() => backend.close());
  return backend;
}

function senderTo(url: string, options: Partial<HttpSenderOptions> = {}): HttpSender {
  const sender = httpSender({
    url,
    connectTimeout: 2_000,
    sendTimeout: 2_000,
    readTimeout: 2_000,
    trustedCertificates: null,
    ...options,
  });
  open.push(() => sender.close());
  return sender;
}

const never = new AbortController().signal;

function send(sender: HttpSender, body: string | Uint8Array = 'body', signal: AbortSignal = never): Promise<number> {
  return sender.send(body, 'text/plain', signal);
}

/** The error of a message that was not delivered. */
async function failureOf(sending: Promise<number>): Promise<string> {
  try {
    await sending;
  } catch (error) {
    assert.ok(error instanceof SenderFailed, String(error));
    return error.message;
  }
  assert.fail('it came through');
}

test('sends what it is given, with its length, and the user of the address as Basic authentication', async () => {
  const backend = await receiver();
  const url = `http://an%20na:s%C3%A4cret@127.0.0.1:${backend.port}/logs?key=1`;
  const sender = senderTo(url, { method: 'PUT', headers: { 'X-Key': 'grün' } });
  assert.equal(await sender.send('{"a":"ä"}', 'application/json', never, { 'X-Count': '1' }), 200);
  const [request] = backend.requests;
  assert.deepEqual([request?.method, request?.target], ['PUT', '/logs?key=1']);
  assert.equal(request?.get('content-type'), 'application/json');
  assert.equal(request?.get('content-length'), '10');
  assert.equal(request?.get('host'), `127.0.0.1:${backend.port}`);
  assert.equal(request?.get('authorization'), `Basic ${Buffer.from('an na:säcret').toString('base64')}`);
  assert.deepEqual([request?.get('x-key'), request?.get('x-count')], [Buffer.from('grün').toString('latin1'), '1']);
  assert.equal(request?.body, Buffer.from('{"a":"ä"}').toString('latin1'));
});

test('a configured Authorization goes before that of the address', async () => {
  const backend = await receiver();
  await send(senderTo(`http://a:b@127.0.0.1:${backend.port}/`, { headers: { authorization: 'Bearer token' } }));
  assert.deepEqual(backend.requests[0]?.all('authorization'), ['Bearer token']);
});

test('keeps its connection, sends bytes, and tells every status without following it', async () => {
  const statuses = ['204 No Content', '302 Found', '500 Internal Server Error', '200 OK'];
  const other = await receiver();
  const backend = await receiver(
    answerEach(() => {
      const status = statuses[backend.requests.length - 1] ?? '';
      return status.startsWith('204')
        ? 'HTTP/1.1 204 No Content\r\n\r\n'
        : answer('x', `Location: ${other.url}/\r\n`, status);
    }),
  );
  const sender = senderTo(backend.url);
  const given: number[] = [];
  for (const _ of statuses) given.push(await send(sender, Buffer.from([1, 2, 255])));
  assert.deepEqual(given, [204, 302, 500, 200]);
  assert.equal(backend.connections.length, 1);
  assert.equal(other.requests.length, 0);
  assert.equal(backend.requests[3]?.body, '\x01\x02\xff');
});

test('tells more of an answer when it is asked', async () => {
  const backend = await receiver(answerEach(() => answer('partly', 'Retry-After: 3\r\n', '503 Service Unavailable')));
  const { status, retryAfter, body } = await senderTo(backend.url).exchange('x', 'text/plain', never);
  assert.deepEqual([status, retryAfter, Buffer.from(body).toString()], [503, '3', 'partly']);
});

test('a kept connection that the receiver has closed costs one more attempt, and no failure', async () => {
  const backend = await receiver(async (connection) => {
    await connection.readRequest();
    connection.write(answer('ok'));
    // Reset as soon as the next message begins.
    await connection.readRequestHead();
    connection.reset();
  });
  const sender = senderTo(backend.url);
  assert.equal(await send(sender), 200);
  assert.equal(await send(sender), 200);
  assert.equal(backend.connections.length, 2);
});

test('an idle connection is given up after its time', async () => {
  const backend = await receiver();
  await send(senderTo(backend.url, { keepalive: 50 }));
  await backend.connections[0]?.closed;
});

test('no connection, no answer, an answer that does not end: each has its time', async () => {
  await using hole = await startSynBlackHole();
  const connecting = await failureOf(send(senderTo(`http://127.0.0.1:${hole.port}/`, { connectTimeout: 60 })));
  assert.match(connecting, /no connection within 60 ms$/);
  const silent = await receiver(async (connection) => {
    await connection.readRequest();
  });
  assert.match(await failureOf(send(senderTo(silent.url, { readTimeout: 60 }))), /no answer within 60 ms$/);
  const endless = await receiver(async (connection) => {
    await connection.readRequest();
    connection.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome');
  });
  // Its status is known.
  assert.equal(await send(senderTo(endless.url, { readTimeout: 60 })), 200);
  await endless.connections[0]?.closed;
});

test('informational answers without an end do not keep it waiting', async () => {
  const backend = await receiver(async (connection) => {
    await connection.readRequest();
    const timer = setInterval(() => connection.write('HTTP/1.1 102 Processing\r\n\r\n'), 5);
    await connection.closed;
    clearInterval(timer);
  });
  assert.match(await failureOf(send(senderTo(backend.url, { readTimeout: 60 }))), /no answer within 60 ms$/);
});

test('a flood of informational answers ends the exchange', async () => {
  for (const status of ['100 Continue', '103 Early Hints']) {
    const backend = await receiver(async (connection) => {
      await connection.readRequest();
      connection.write(`HTTP/1.1 ${status}\r\n\r\n`.repeat(1000));
      await connection.closed;
    });
    assert.match(await failureOf(send(senderTo(backend.url))), /too many interim answers$/);
  }
});

test('a receiver that does not take the message has its time, too', async () => {
  const backend = await receiver((connection) => {
    connection.socket.pause();
  });
  const sender = senderTo(backend.url, { sendTimeout: 100 });
  assert.match(await failureOf(send(sender, Buffer.alloc(32 << 20))), /the message was not taken within 100 ms$/);
});

test('an answer of any size is not kept, and a long one costs the connection', async () => {
  const backend = await receiver(async (connection) => {
    await connection.readRequest();
    connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    connection.write(`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(1_000));
    await connection.closed;
  });
  assert.equal(await send(senderTo(backend.url)), 200);
  await backend.connections[0]?.closed;
});

test('an error has no credentials, no paths and nothing that the receiver sent', async () => {
  const scripts: readonly (readonly [string, BackendScript])[] = [
    ['no HTTP', async (connection) => connection.end('SSH-2.0-secret\r\n')],
    [
      'a head without an end',
      async (connection) => connection.write(`HTTP/1.1 200 OK\r\nX-Secret: ${'s'.repeat(70_000)}`),
    ],
    ['closed', async (connection) => connection.end()],
    ['reset', async (connection) => connection.reset()],
    [
      'an upgrade',
      async (connection) =>
        connection.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
  ];
  for (const [what, script] of scripts) {
    const backend = await receiver(async (connection) => {
      await connection.readRequest();
      await script(connection);
    });
    const url = `http://user:secret@127.0.0.1:${backend.port}/secret?secret`;
    const message = await failureOf(send(senderTo(url, { headers: { 'X-Key': 'secret' } }), 'secret'));
    assert.ok(message.startsWith(`http://127.0.0.1:${backend.port}: `), `${what}: ${message}`);
    assert.doesNotMatch(message, /secret|sss|[\r\n]/i, what);
  }
  const gone = await startRawBackend();
  const { port } = gone;
  await gone.close();
  assert.match(await failureOf(send(senderTo(`http://u:secret@127.0.0.1:${port}/`))), /^http:\/\/127.*ECONNREFUSED/);
  assert.throws(
    () => httpSender({ ...tls, url: 'ftp://user:secret@host/' }),
    /^TypeError: the address to send to must/,
  );
  assert.throws(() => httpSender({ ...tls, url: 'secret' }), /^TypeError: the address to send to is not a URL$/);
});

const tls = { connectTimeout: 2_000, sendTimeout: 2_000, readTimeout: 2_000, trustedCertificates: null };

test('TLS: the name and the authority count', async () => {
  using authority = new CertificateAuthority();
  const [right, wrong] = [
    await secureReceiver(authority.issue('localhost')),
    await secureReceiver(authority.issue('a.test')),
  ];
  const trusted = { trustedCertificates: authority.file };
  assert.equal(await send(senderTo(right, trusted)), 200);
  assert.match(
    await failureOf(send(senderTo(wrong, trusted))),
    /^https:\/\/localhost:\d+: Hostname\/IP does not match/,
  );
  assert.match(await failureOf(send(senderTo(right))), /certificate/);
});

test('TLS: a file of authorities is made ready once, however many senders and connections there are', async () => {
  using authority = new CertificateAuthority();
  const url = await secureReceiver(authority.issue('localhost'), 'close');
  const made = mock.method(tlsModule, 'createSecureContext');
  syncBuiltinESMExports();
  for (let round = 0; round < 3; round++) {
    const sender = senderTo(url, { trustedCertificates: authority.file });
    assert.deepEqual([await send(sender), await send(sender)], [200, 200]);
  }
  assert.equal(made.mock.callCount(), 1);
  made.mock.restore();
  syncBuiltinESMExports();
});

async function secureReceiver(
  identity: { readonly cert: string; readonly key: string },
  connection: 'close' | 'keep-alive' = 'keep-alive',
): Promise<string> {
  const server = createSecureServer(identity, (request, response) => {
    response.setHeader('Connection', connection);
    request.resume().on('end', () => response.end('ok'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => server.close().closeAllConnections());
  return `https://localhost:${(server.address() as AddressInfo).port}/`;
}

test('is given up at once by its signal, and by close', async () => {
  const backend = await receiver(() => {});
  const giveUp = new AbortController();
  const sender = senderTo(backend.url);
  const first = failureOf(send(sender, 'body', giveUp.signal));
  await until(() => backend.connections.length === 1);
  giveUp.abort();
  assert.match(await first, /aborted$/);
  const second = failureOf(send(sender));
  await until(() => backend.connections.length === 2);
  sender.close();
  await second;
});
