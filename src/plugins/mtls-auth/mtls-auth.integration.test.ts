import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { testSettings } from '../../../test/support/settings.ts';
import { until } from '../../../test/support/until.ts';
import { type Issued, TestPki } from './pki.fixture.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A TLS connection of a client; with `chain`, one that shows these certificates when it is asked. */
class Client {
  readonly socket: TLSSocket;
  /** To be resumed by a later connection. */
  session: Buffer | null = null;
  #text = '';
  #arrived: () => void = () => {};

  constructor(port: number, chain: readonly Issued[] = [], options: ConnectionOptions = {}) {
    const [own] = chain;
    const identity = own === undefined ? {} : { cert: chain.map(({ cert }) => cert).join(''), key: own.key };
    this.socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...identity, ...options });
    this.socket.on('session', (session) => {
      this.session = session;
    });
    this.socket.on('data', (data: Buffer) => {
      this.#text += data.toString('latin1');
      this.#arrived();
    });
    for (const event of ['error', 'close']) this.socket.on(event, () => this.#arrived());
  }

  async get(path: string): Promise<Answer> {
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway.test\r\n\r\n`);
    for (;;) {
      const headEnd = this.#text.indexOf('\r\n\r\n');
      const head = this.#text.slice(0, headEnd + 2);
      const end = headEnd + 4 + Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1]);
      if (headEnd > 0 && this.#text.length >= end) {
        const body = this.#text.slice(headEnd + 4, end);
        this.#text = this.#text.slice(end);
        return { status: Number(head.slice(9, 12)), body };
      }
      assert.ok(!this.socket.destroyed, 'the connection ended before the answer');
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  close(): void {
    this.socket.destroy();
  }
}

describe('mtls-auth in a gateway', () => {
  const pki = new TestPki();
  const root = pki.root('/CN=Root');
  const intermediate = root.authority('/CN=Intermediate');
  const server = pki.root('/CN=gateway.test', { extensions: ['subjectAltName=DNS:gateway.test'] });
  const ada = intermediate.issue('/CN=ada');
  const partner = intermediate.issue('/CN=partner', { extensions: ['subjectAltName=DNS:api.partner.test'] });
  let gateway: TestGateway;
  let backend: TestBackend;
  let port = 0;
  let authority = '';
  const open: Client[] = [];

  function client(chain: readonly Issued[] = [], options: ConnectionOptions = {}): Client {
    const one = new Client(port, chain, options);
    open.push(one);
    return one;
  }

  async function write(method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> {
    const answer = await gateway.admin(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async function statusOf(chain: readonly Issued[], path = '/mtls'): Promise<number> {
    return (await client(chain).get(path)).status;
  }

  before(async () => {
    backend = await startBackend();
    const [plain] = testSettings({ prefix: '/' }).proxyListen;
    assert.ok(plain !== undefined);
    gateway = await startTestGateway({
      settings: { proxyListen: [plain, { ...plain, ssl: true }], sslCert: [server.cert], sslCertKey: [server.key] },
    });
    port = gateway.proxyTlsPort;
    await write('PUT', '/services/backend', { url: backend.url });
    await write('PUT', '/services/backend/routes/mtls', { paths: ['/mtls'] });
    await write('PUT', '/services/backend/routes/open', { paths: ['/open'] });
    await write('PUT', '/consumers/ada', {});
    await write('PUT', '/consumers/acme', {});
    authority = String((await write('POST', '/ca_certificates', { cert: root.cert }))['id']);
  });
  after(async () => {
    for (const one of open) one.close();
    await gateway.stop();
    await backend.close();
    pki.close();
  });

  const plugin = '/routes/mtls/plugins/77777777-7777-4777-8777-777777777777';
  const set = (fields: Readonly<Record<string, unknown>> = {}, config = {}) =>
    write('PUT', plugin, {
      name: 'mtls-auth',
      config: { ca_certificates: [authority], ...config },
      ...fields,
    });

  it('asks no client for a certificate before it is there, and each new one from then on', async () => {
    const early = client([ada, intermediate]);
    assert.equal((await early.get('/mtls')).status, 200);
    await set();
    assert.equal((await early.get('/mtls')).status, 401, 'a connection from before has no certificate');
    assert.equal((await early.get('/open')).status, 200);
    const late = client([ada, intermediate]);
    for (let at = 0; at < 3; at++) {
      const { status, body } = await late.get('/mtls');
      assert.equal(status, 200);
      assert.equal(JSON.parse(body).headers['x-consumer-username'], 'ada');
    }
  });

  it('refuses connections without a certificate, over TLS and without, but only where it is configured', async () => {
    const { status, body } = await client().get('/mtls');
    assert.equal(status, 401);
    assert.match(body, /No required TLS certificate was sent/);
    assert.equal(await statusOf([], '/open'), 200);
    const plain = await fetch(`${gateway.proxyUrl}/mtls`);
    assert.equal(plain.status, 401);
    assert.match(await plain.text(), /No required TLS certificate was sent/);
  });

  it('refuses certificates that lead nowhere, and lets them through elsewhere', async () => {
    const stranger = pki.root('/CN=ada');
    const { status, body } = await client([stranger]).get('/mtls');
    assert.equal(status, 401);
    assert.match(body, /TLS certificate failed verification/);
    assert.equal(await statusOf([ada]), 401, 'without the intermediate certificate');
    assert.equal(await statusOf([stranger], '/open'), 200);
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`has the whole chain on every connection, also of clients that resume (${version})`, async () => {
      const only = { minVersion: version, maxVersion: version } as const;
      // A session from before the gateway asked for certificates.
      await set({ enabled: false });
      const before = client([ada, intermediate], only);
      assert.equal((await before.get('/open')).status, 200);
      await until(() => before.session !== null);
      await set();
      let session = before.session;
      for (let at = 0; at < 3; at++) {
        const one = client([ada, intermediate], { ...only, ...(session === null ? {} : { session }) });
        assert.equal((await one.get('/mtls')).status, 200);
        session = one.session;
      }
    });
  }

  it('asks where a certificate of an SNI is served, too', async () => {
    await write('POST', '/certificates', { cert: server.cert, key: server.key, snis: ['gateway.test'] });
    const one = client([ada, intermediate], { servername: 'gateway.test' });
    assert.equal((await one.get('/mtls')).status, 200);
  });

  it('knows credentials that the Admin API makes, as long as they are there', async () => {
    const chain = [partner, intermediate];
    const connection = client(chain);
    assert.equal((await connection.get('/mtls')).status, 401);
    const made = await write('POST', '/consumers/acme/mtls-auth', {
      subject_name: 'api.partner.test',
      ca_certificate: { id: authority },
    });
    const { status, body } = await connection.get('/mtls');
    assert.equal(status, 200);
    const { headers } = JSON.parse(body);
    assert.equal(headers['x-consumer-username'], 'acme');
    assert.equal(headers['x-credential-identifier'], made['id']);
    const list = await write('GET', '/mtls-auths');
    assert.deepEqual(list['data'], [made]);
    const twice = await gateway.admin('POST', '/consumers/ada/mtls-auth', {
      subject_name: 'api.partner.test',
      ca_certificate: { id: authority },
    });
    assert.equal(twice.status, 409);
    await write('DELETE', `/consumers/acme/mtls-auth/${made['id']}`);
    assert.equal((await connection.get('/mtls')).status, 401);
  });

  it('refuses what is revoked', async () => {
    const lost = intermediate.issue('/CN=ada');
    const config = { crls: [intermediate.crl([lost]), root.crl([])], revocation_check_mode: 'STRICT' };
    await set({}, config);
    assert.equal(await statusOf([lost, intermediate]), 401);
    assert.equal(await statusOf([ada, intermediate]), 200);
    await set();
  });

  it('does not trust an authority that was removed, also on connections that are open', async () => {
    const connection = client([ada, intermediate]);
    assert.equal((await connection.get('/mtls')).status, 200);
    await write('DELETE', `/ca_certificates/${authority}`);
    assert.equal((await connection.get('/mtls')).status, 401);
    authority = String((await write('POST', '/ca_certificates', { cert: root.cert }))['id']);
    await set();
    assert.equal((await connection.get('/mtls')).status, 200);
  });

  it('asks no more when it is gone', async () => {
    await write('DELETE', plugin);
    const early = client([ada, intermediate]);
    assert.equal((await early.get('/open')).status, 200);
    await set();
    assert.equal((await early.get('/mtls')).status, 401, 'it was not asked');
  });
});
