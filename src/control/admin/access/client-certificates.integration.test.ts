import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { CertificateAuthority, type IssuedCertificate } from '../../../../test/support/certificate-authority.ts';
import { startTestGateway, type TestGateway } from '../../../../test/support/gateway.ts';
import { withToken } from './users.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-mtls-'));
const servers = new CertificateAuthority('servers');
const clients = new CertificateAuthority('clients');
const strangers = new CertificateAuthority('clients');
const gateways: TestGateway[] = [];
let required: Listener;
let optional: Listener;
let adminToken: string;

interface Listener {
  readonly port: number;
  readonly gateway: TestGateway;
}

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function start(verify: string): Promise<Listener> {
  const { cert, key } = servers.issue('admin.test');
  const gateway = await startTestGateway({
    env: {
      KONG_ADMIN_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl http2',
      KONG_STATUS_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl',
      KONG_ADMIN_GUI_LISTEN: 'off',
      KONG_ADMIN_SSL_CERT: file('admin.crt', cert),
      KONG_ADMIN_SSL_CERT_KEY: file('admin.key', key),
      SLUICEGATE_ADMIN_SSL_CLIENT_CA: file('ca.pem', clients.cert),
      SLUICEGATE_ADMIN_SSL_VERIFY_CLIENT: verify,
    },
  });
  gateways.push(gateway);
  const port = gateway.gateway.addresses.admin.find(({ ssl }) => ssl)?.port ?? 0;
  return { port, gateway };
}

before(async () => {
  [required, optional] = [await start('on'), await start('optional')];
  const plain = withToken(optional.gateway.adminUrl, null);
  const first = await plain('POST', '/admin-users', {
    name: 'admin',
    role: 'admin',
    certificate_name: 'DNS:admin.client',
  });
  adminToken = String(first.json['token']);
  const admin = withToken(optional.gateway.adminUrl, adminToken);
  for (const user of [
    { name: 'reader', role: 'read', certificate_name: 'CN:reader.client' },
    { name: 'ambiguous', role: 'read', certificate_name: 'CN:admin.client' },
    { name: 'two', role: 'read', certificate_name: 'CN:two.client' },
  ]) {
    assert.equal((await admin('POST', '/admin-users', user)).status, 201);
  }
  assert.equal((await admin('DELETE', '/admin-users/ambiguous')).status, 204);
});
after(async () => {
  for (const gateway of gateways) await gateway.stop();
  for (const authority of [servers, clients, strangers]) authority[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

function send(
  { port }: Listener,
  client: IssuedCertificate | null,
  {
    method = 'GET',
    path = '/services',
    headers = {},
  }: { method?: string; path?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const tls = { ca: servers.cert, servername: 'admin.test', agent: false as const };
  const request = httpsRequest(
    { host: '127.0.0.1', port, method, path, headers, ...tls, ...client },
    async (response) => {
      try {
        const text = Buffer.concat(await response.toArray()).toString();
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers });
      } catch (error) {
        reject(error as Error);
      }
    },
  );
  request.on('error', reject);
  request.end();
  return promise;
}

test('without a valid certificate nobody can connect', async () => {
  assert.equal((await send(required, clients.issue('any.client'))).status, 200);
  await assert.rejects(send(required, null));
  await assert.rejects(send(required, strangers.issue('any.client')), 'another authority of the same name');
  await assert.rejects(send(required, clients.issue('any.client', { days: -1 })), 'expired');
  await assert.rejects(send(required, servers.issue('any.client')), 'the authority of the server');
});

test('a certificate is checked with each connection, not resumed from an earlier one', async () => {
  const client = clients.issue('any.client');
  const open = (session?: Buffer): Promise<{ socket: TLSSocket; sessions: Buffer[] }> =>
    new Promise((resolve, reject) => {
      const sessions: Buffer[] = [];
      const options = { ca: servers.cert, servername: 'admin.test', ...(session === undefined ? client : { session }) };
      const socket = connectTls(required.port, '127.0.0.1', options);
      socket.on('session', (ticket) => sessions.push(ticket));
      socket.on('error', reject);
      socket.on('secureConnect', () => {
        socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
        socket.once('data', () => resolve({ socket, sessions }));
      });
    });
  const { socket, sessions } = await open();
  assert.equal(socket.isSessionReused(), false);
  socket.destroy();
  const [ticket] = sessions;
  if (ticket !== undefined) await assert.rejects(open(ticket), 'the session stands for the certificate');
});

test('a name in the certificate signs a user in', async () => {
  const me = async (client: IssuedCertificate | null, headers: Record<string, string> = {}) =>
    send(optional, client, { path: '/admin-users/me', headers });
  const admin = await me(clients.issue('admin.client'));
  assert.equal(admin.status, 200, admin.text);
  assert.equal(JSON.parse(admin.text).name, 'admin');
  assert.equal(JSON.parse((await me(clients.issue('reader.client'))).text).role, 'read');
  for (const unknown of ['x.client', 'admin.client.x', 'xadmin.client']) {
    assert.equal((await me(clients.issue(unknown))).status, 401, unknown);
  }
  assert.equal((await me(null)).status, 401);
  assert.equal((await me(null, { authorization: `Bearer ${adminToken}` })).status, 200);
  const both = await me(clients.issue('reader.client'), { authorization: `Bearer ${adminToken}` });
  assert.equal(JSON.parse(both.text).name, 'admin', 'the token says who');
  assert.equal((await me(clients.issue('admin.client'), { authorization: 'Bearer wrong' })).status, 401);
});

test('an invalid certificate is refused, with a right token, too', async () => {
  const headers = { authorization: `Bearer ${adminToken}` };
  for (const client of [strangers.issue('admin.client'), clients.issue('admin.client', { days: -1 })]) {
    const { status, text } = await send(optional, client, { headers });
    assert.equal(status, 400);
    assert.match(text, /The client certificate is not accepted/);
  }
});

test('the role of the certificate counts, and a header cannot pretend to one', async () => {
  const client = clients.issue('reader.client');
  assert.equal((await send(optional, client)).status, 200);
  assert.equal((await send(optional, client, { method: 'DELETE', path: '/services/x' })).status, 403);
  for (const name of ['x-client-cert', 'x-ssl-client-s-dn', 'ssl-client-verify', 'x-forwarded-client-cert']) {
    assert.equal((await send(optional, null, { headers: { [name]: 'CN=admin.client' } })).status, 401, name);
  }
});

test('a browser adds the certificate to requests of foreign pages, which may neither read nor write', async () => {
  const client = clients.issue('admin.client');
  const headers = { origin: 'https://evil.example', host: 'localhost' };
  const read = await send(optional, client, { headers });
  assert.equal(read.headers['access-control-allow-origin'], undefined);
  assert.equal((await send(optional, client, { method: 'DELETE', path: '/services/x', headers })).status, 403);
  const rebound = { host: 'evil.example' };
  assert.equal((await send(optional, client, { headers: rebound })).status, 403);
  const posted = { host: 'localhost', 'sec-fetch-site': 'cross-site' };
  assert.equal((await send(optional, client, { method: 'DELETE', path: '/services/x', headers: posted })).status, 403);
  const own = { origin: `https://localhost:${optional.port}`, host: `localhost:${optional.port}` };
  assert.equal((await send(optional, client, { method: 'DELETE', path: '/services/x', headers: own })).status, 204);
  const token = { ...headers, authorization: `Bearer ${adminToken}` };
  assert.equal((await send(optional, null, { method: 'DELETE', path: '/services/x', headers: token })).status, 204);
});

test('HTTP/2 signs in by certificate, too', async () => {
  const trust = { ca: servers.cert, servername: 'admin.test' };
  const status = (client: IssuedCertificate | null): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const session = connectHttp2(`https://127.0.0.1:${optional.port}`, { ...trust, ...client });
      session.on('error', reject);
      const stream = session.request({ ':path': '/services', ':authority': 'localhost' });
      stream.on('error', reject);
      stream.on('response', (headers) => {
        resolve(headers[':status']);
        session.close();
      });
      stream.resume();
      stream.end();
    });
  assert.equal(await status(clients.issue('reader.client')), 200);
  assert.equal(await status(null), 401);
});

test('old TLS versions are refused, as on the other listeners', async () => {
  const attempt = (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> =>
    new Promise((resolve, reject) => {
      const options = {
        minVersion: version,
        maxVersion: version,
        ciphers: 'DEFAULT@SECLEVEL=0',
        rejectUnauthorized: false,
      };
      const socket = connectTls(optional.port, '127.0.0.1', options);
      socket.on('error', reject);
      socket.on('secureConnect', () => {
        resolve(socket.getProtocol());
        socket.destroy();
      });
    });
  assert.equal(await attempt('TLSv1.3'), 'TLSv1.3');
  assert.equal(await attempt('TLSv1.2'), 'TLSv1.2');
  await assert.rejects(attempt('TLSv1.1'), /protocol version|unsupported/i);
});

test('the status listener requests no certificate', async () => {
  const port = optional.gateway.gateway.addresses.status.find(({ ssl }) => ssl)?.port ?? 0;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  httpsRequest({ host: '127.0.0.1', port, path: '/status', agent: false, rejectUnauthorized: false }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  })
    .on('error', reject)
    .end();
  assert.equal(await promise, 200);
});

test('an authority that is no certificate stops the start with one line', async () => {
  for (const [content, expected] of [
    ['nothing', /admin_ssl_client_ca contains no certificate/],
    [
      '-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n',
      /admin_ssl_client_ca: a certificate cannot be read/,
    ],
  ] as const) {
    const env = {
      KONG_ADMIN_LISTEN: '127.0.0.1:0 ssl',
      SLUICEGATE_ADMIN_SSL_CLIENT_CA: file('bad.pem', content),
    };
    await assert.rejects(startTestGateway({ env }), expected);
  }
});
