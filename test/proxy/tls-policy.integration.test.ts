import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { type Rig, startRig } from '../support/rig.ts';
import { agreed, openssl } from '../support/tls-client.ts';

async function tlsRig(env: Readonly<Record<string, string>>): Promise<Rig> {
  return startRig({ env: { KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl', ...env } });
}

interface Suite {
  readonly suite: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly takes: readonly (readonly string[])[];
  readonly refuses: readonly (readonly string[])[];
}

const weak = ['-cipher', 'ALL:@SECLEVEL=0'];
const cbc = ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-SHA256'];

const suites: readonly Suite[] = [
  { suite: 'modern', takes: [['-tls1_3']], refuses: [['-tls1_2'], ['-tls1_1', ...weak]] },
  {
    suite: 'intermediate',
    takes: [['-tls1_3'], ['-tls1_2'], ['-tls1_2', '-cipher', 'ECDHE-ECDSA-CHACHA20-POLY1305']],
    refuses: [['-tls1_1', ...weak], cbc],
  },
  { suite: 'old', takes: [['-tls1_3'], ['-tls1_2'], ['-tls1_1', ...weak], cbc], refuses: [] },
  {
    suite: 'fips',
    takes: [['-tls1_3'], ['-tls1_2']],
    refuses: [
      ['-tls1_1', ...weak],
      ['-tls1_2', '-cipher', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
    ],
  },
  {
    suite: 'custom',
    env: { KONG_SSL_PROTOCOLS: 'TLSv1.2', KONG_SSL_CIPHERS: 'ECDHE-ECDSA-AES256-GCM-SHA384' },
    takes: [['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES256-GCM-SHA384']],
    refuses: [['-tls1_3'], ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-GCM-SHA256']],
  },
];

describe('ssl_cipher_suite', () => {
  for (const { suite, env = {}, takes, refuses } of suites) {
    it(`${suite} accepts and refuses the versions and ciphers of its policy`, async () => {
      await using rig = await tlsRig({ KONG_SSL_CIPHER_SUITE: suite, ...env });
      const port = rig.gateway.proxyTlsPort;
      for (const args of takes) assert.notEqual(await agreed(port, ...args), null, args.join(' '));
      for (const args of refuses) assert.equal(await agreed(port, ...args), null, args.join(' '));
    });
  }
});

describe('TLS sessions', () => {
  let rig: Rig;
  before(async () => {
    rig = await tlsRig({ KONG_NGINX_WORKER_PROCESSES: '2' });
  });
  after(() => rig.close());

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`are resumed on every worker (${version})`, async () => {
      const session = await firstSession(rig.gateway.proxyTlsPort, version);
      const reused = await Promise.all(
        Array.from({ length: 12 }, () => resumes(rig.gateway.proxyTlsPort, version, session)),
      );
      assert.deepEqual([...new Set(reused)], [true]);
    });
  }

  it('keep the server name for routes that match by it', async () => {
    const port = rig.gateway.proxyTlsPort;
    await rig.write('PUT', '/services/backend/routes/named', { paths: ['/named'], snis: ['localhost'] });
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const before = await ask(port, version);
      assert.match(before.text, /^HTTP\/1\.1 200 /);
      assert.match((await ask(port, version, before.session)).text, /^HTTP\/1\.1 200 /);
    }
    await rig.gateway.admin('DELETE', '/services/backend/routes/named');
    const again = await ask(port, 'TLSv1.3');
    assert.deepEqual(
      await Promise.all(Array.from({ length: 6 }, () => resumes(port, 'TLSv1.3', again.session as Buffer))),
      Array.from({ length: 6 }, () => true),
    );
  });

  it('are not issued when tickets are off', async () => {
    await using other = await tlsRig({ KONG_SSL_SESSION_TICKETS: 'off', KONG_NGINX_WORKER_PROCESSES: '1' });
    const text = await openssl(other.gateway.proxyTlsPort, ['-tls1_2']);
    assert.doesNotMatch(text, /TLS session ticket:/);
    assert.match(await openssl(rig.gateway.proxyTlsPort, ['-tls1_2']), /TLS session ticket:/);
  });
});

describe('the default certificate of listeners', () => {
  it('is self-signed for localhost', async () => {
    await using rig = await tlsRig({});
    const text = await openssl(rig.gateway.proxyTlsPort, []);
    assert.match(text, /subject=CN = localhost/);
    assert.match(text, /self-signed certificate/);
  });
});

function open(port: number, version: 'TLSv1.2' | 'TLSv1.3', session?: Buffer): TLSSocket {
  return connect({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    rejectUnauthorized: false,
    minVersion: version,
    maxVersion: version,
    ...(session === undefined ? {} : { session }),
  });
}

function firstSession(port: number, version: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = open(port, version);
    socket.on('error', reject);
    socket.once('session', (session) => {
      socket.destroy();
      resolve(session);
    });
    // In TLS 1.3 the ticket arrives with the first bytes of the server.
    socket.once('secureConnect', () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));
  });
}

function resumes(port: number, version: 'TLSv1.2' | 'TLSv1.3', session: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = open(port, version, session);
    socket.on('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.isSessionReused());
      socket.destroy();
    });
  });
}

/** The answer to a request, and the session that arrived before it, if any. */
function ask(
  port: number,
  version: 'TLSv1.2' | 'TLSv1.3',
  session?: Buffer,
): Promise<{ readonly text: string; readonly session?: Buffer }> {
  return new Promise((resolve, reject) => {
    const socket = open(port, version, session);
    let given: Buffer | undefined;
    let text = '';
    socket.on('session', (fresh) => {
      given = fresh;
    });
    socket.on('error', reject);
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
    });
    socket.on('end', () => resolve(given === undefined ? { text } : { text, session: given }));
    socket.write('GET /named HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  });
}
