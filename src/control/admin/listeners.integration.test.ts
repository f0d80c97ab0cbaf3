import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { get } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { openHttp2 } from '../../../test/support/http2-client.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import { startTestAdmin } from './admin.fixture.ts';
import { firstCertificate } from './certificate.fixture.ts';
import { startAdmin } from './start-admin.ts';

const plain: ListenAddress = {
  ip: '127.0.0.1',
  port: 0,
  ssl: false,
  udp: false,
  http2: false,
  proxyProtocol: false,
  reuseport: false,
  deferred: false,
  bind: false,
  backlog: 511,
  ipv6only: true,
  listener: '127.0.0.1:0',
};

test('a listener with TLS serves HTTP/1.1 and HTTP/2, next to one in plain text', async () => {
  await using admin = await startTestAdmin({ tls: firstCertificate });
  const adminListen = [plain, { ...plain, ssl: true, http2: true }];
  const settings = { ...admin.deps.settings, adminListen };
  const listener = await startAdmin({ ...admin.deps, settings }, admin.options);
  try {
    assert.deepEqual(
      listener.addresses.map(({ ssl }) => ssl),
      [false, true],
    );
    const url = `https://localhost:${listener.addresses[1]?.port}`;
    const trust = { ca: firstCertificate.cert, servername: 'a.test' };

    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    get(`${url}/services`, { ...trust, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
    assert.equal(await promise, 200);

    const session = connectHttp2(url, trust);
    const exchange = async (headers: Record<string, string>, body?: string): Promise<readonly [unknown, string]> => {
      const stream = session.request({ ':authority': 'localhost', ...headers });
      let status: unknown;
      stream.on('response', (fields) => {
        status = fields[':status'];
      });
      stream.end(body);
      const text = Buffer.concat(await stream.toArray()).toString();
      return [status, text];
    };
    const json = { 'content-type': 'application/json' };
    const created = await exchange(
      { ':method': 'POST', ':path': '/services', ...json },
      '{"name":"h2","host":"a.test"}',
    );
    assert.equal(created[0], 201, created[1]);
    const bad = await exchange({ ':method': 'POST', ':path': '/services', ...json }, '{');
    assert.equal(bad[0], 400);
    assert.match(bad[1], /^\{"message":"Cannot parse JSON body"/);
    const foreign = await exchange({ ':path': '/services', ':authority': 'evil.example' });
    assert.equal(foreign[0], 403);
    session.close();
    await once(session, 'close');
  } finally {
    await listener.close(false);
  }
});

test('a request over HTTP/2 is one like any other: bodies, limits, logs, roles', async () => {
  await using admin = await startTestAdmin({ tls: firstCertificate });
  const adminListen = [{ ...plain, ssl: true, http2: true }];
  const settings = { ...admin.deps.settings, adminListen, adminClientMaxBodySize: 2_000_000 };
  const listener = await startAdmin({ ...admin.deps, settings }, admin.options);
  try {
    await using client = await openHttp2(listener.addresses[0]?.port ?? 0, true);
    const send = (path: string, body: string, method = 'PUT') =>
      client.request(path, { headers: { ':method': method, 'content-type': 'application/json' }, body });
    assert.equal((await send('/services/large', `{"host":${' '.repeat(1_048_576)}"a.test"}`)).status, 200);
    const read = await client.request('/services/large');
    assert.equal(JSON.parse(read.body.toString()).host, 'a.test');
    assert.equal((await send('/services/larger', 'x'.repeat(2_000_001))).status, 413);
    const foreign = { ':method': 'POST', origin: 'https://evil.example' };
    assert.equal((await client.request('/services', { headers: foreign, body: '{}' })).status, 403);
    assert.equal((await client.request('/no/such/path')).status, 404);
    assert.equal((await client.request('/services', { headers: { ':method': 'BREW' } })).status, 501);
    const [first] = admin.accessLog;
    assert.deepEqual(
      [first?.method, first?.url, first?.httpVersion, first?.scheme, first?.remoteAddr],
      ['PUT', '/services/large', '2.0', 'https', '127.0.0.1'],
    );
  } finally {
    await listener.close(false);
  }
});

test('a listener with TLS and no certificate, or an address in use, is a clear error', async () => {
  await using admin = await startTestAdmin();
  const start = (address: ListenAddress) => {
    const settings = { ...admin.deps.settings, adminListen: [plain, address] };
    return startAdmin({ ...admin.deps, settings }, admin.options);
  };
  await assert.rejects(start({ ...plain, ssl: true, listener: '127.0.0.1:8444 ssl' }), {
    message: '127.0.0.1:8444 ssl needs a certificate and a key',
  });
  await assert.rejects(start({ ...plain, port: admin.port }), { code: 'EADDRINUSE' });
});

test('a graceful end answers the request in flight', async () => {
  await using admin = await startTestAdmin();
  const { promise: written, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: waiting, resolve: begun } = Promise.withResolvers<void>();
  const publisher = {
    failures: new Map(),
    published: (): Promise<void> => {
      begun();
      return written;
    },
  };
  const listener = await startAdmin({ ...admin.deps, publisher }, admin.options);
  const answer = fetch(`http://127.0.0.1:${listener.addresses[0]?.port}/services`, {
    method: 'POST',
    body: new URLSearchParams({ host: 'a.test' }),
  });
  await waiting;
  const closed = listener.close(true);
  letGo();
  assert.equal((await answer).status, 201);
  await closed;
});

test('while the database is unavailable, requests fail and the status says so; afterwards both recover', {
  skip: skipWithoutPostgres(),
}, async () => {
  const postgres = await startPostgres();
  try {
    const pg = postgresSettings(postgres, 2000);
    await using admin = await startTestAdmin({ pg });
    assert.equal((await admin.call('PUT', '/services/users', { host: 'a.test' })).status, 200);
    await postgres.crash();
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { retries: 1 }],
    ] as const) {
      const answer = await admin.call(method, '/services/users', body);
      assert.equal(answer.status, 503);
      assert.match(String((answer.json as { message: string }).message), /^cannot use PostgreSQL at /);
      assert.equal(answer.headers['retry-after'], '1');
    }
    assert.equal(admin.errors.length, 1, 'one line for the outage');
    const status = await admin.call('GET', '/status');
    assert.equal(status.status, 200);
    assert.deepEqual(status.json['database'], { reachable: false });
    await postgres.restart();
    const back = await admin.call('PATCH', '/services/users', { retries: 1 });
    assert.equal(back.json['retries'], 1, back.text);
  } finally {
    await postgres.stop();
  }
});

test('a listener with proxy_protocol requires the PROXY header first, also before TLS', async () => {
  await using admin = await startTestAdmin({ tls: firstCertificate });
  const proxied = { ...plain, proxyProtocol: true };
  const settings = { ...admin.deps.settings, adminListen: [proxied, { ...proxied, ssl: true, http2: true }] };
  const listener = await startAdmin({ ...admin.deps, settings }, admin.options);
  try {
    const [first, second] = listener.addresses.map((address) => address.port);
    const request = 'GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const header = 'PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n';
    assert.match(await exchange(connectTcp(first!, '127.0.0.1'), header + request), /^HTTP\/1\.1 200 /);
    assert.equal(await exchange(connectTcp(first!, '127.0.0.1'), request), '');
    const raw = connectTcp(second!, '127.0.0.1');
    raw.write(header);
    assert.match(await exchange(connectTls({ socket: raw, rejectUnauthorized: false }), request), /^HTTP\/1\.1 200 /);
  } finally {
    await listener.close(false);
  }
});

async function exchange(socket: Socket, bytes: string): Promise<string> {
  let text = '';
  socket.on('error', () => {});
  socket.write(bytes);
  for await (const data of socket) text += data;
  return text;
}
