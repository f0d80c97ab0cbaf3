import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect, createServer, type SecureVersion, type Server, type TLSSocket } from 'node:tls';
import { CertificateAuthority, type IssueOptions } from '../support/certificate-authority.ts';
import { http2Settings } from '../support/http2-rig.ts';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { startStreamRig } from '../support/stream-rig.ts';

/** Case 47: no check is skipped for a resumed TLS session, a pooled connection, or a name in another case. */
const authority = new CertificateAuthority();
const servers: Server[] = [];

after(() => {
  for (const server of servers) server.close();
  authority[Symbol.dispose]();
});

interface Backend {
  readonly port: number;
  readonly connections: { readonly reused: boolean; readonly name: string }[];
  requests: number;
}

interface BackendOptions extends IssueOptions {
  readonly keepAlive?: boolean;
  readonly maxVersion?: SecureVersion;
}

async function startBackend(
  host: string,
  { keepAlive = false, maxVersion = 'TLSv1.3', ...options }: BackendOptions = {},
): Promise<Backend> {
  const backend: Backend = { port: 0, connections: [], requests: 0 };
  const end = keepAlive ? '' : 'Connection: close\r\n';
  const server = createServer({ ...authority.issue(host, options), maxVersion }, (socket: TLSSocket) => {
    const { servername } = socket as TLSSocket & { readonly servername: string | false };
    backend.connections.push({ reused: socket.isSessionReused(), name: servername || '' });
    socket.on('error', () => {});
    socket.on('data', () => {
      backend.requests++;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${end}\r\nok`);
      if (!keepAlive) socket.end();
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return Object.assign(backend, { port: (server.address() as AddressInfo).port });
}

describe('TLS to backends', () => {
  let rig: Rig;
  let serial = 0;
  before(async () => {
    rig = await startRig({ env: { KONG_LUA_SSL_TRUSTED_CERTIFICATE: authority.file } });
  });
  after(async () => {
    await rig.close();
  });

  async function route(port: number, service: object = {}, fields: object = {}): Promise<string> {
    const name = `t${serial++}`;
    await rig.write('PUT', `/services/${name}`, { url: `https://localhost:${port}`, retries: 0, ...service });
    await rig.write('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`], ...fields });
    return `/${name}`;
  }

  async function statuses(path: string, hosts: readonly string[]): Promise<readonly number[]> {
    const found: number[] = [];
    for (const host of hosts) {
      found.push((await exchangeOne(rig.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status);
    }
    return found;
  }

  const thrice = ['a.test', 'a.test', 'a.test'];

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`refuses a certificate for another name on every connection (${maxVersion})`, async () => {
      const backend = await startBackend('other.test', { maxVersion });
      assert.deepEqual(await statuses(await route(backend.port, { tls_verify: true }), thrice), [502, 502, 502]);
      assert.equal(backend.requests, 0);
    });

    it(`refuses a chain that is too long on every connection (${maxVersion})`, async () => {
      const backend = await startBackend('localhost', { depth: 2, maxVersion });
      const path = await route(backend.port, { tls_verify: true, tls_verify_depth: 1 });
      assert.deepEqual(await statuses(path, thrice), [502, 502, 502]);
      assert.equal(backend.requests, 0);
      const allowed = await route(backend.port, { tls_verify: true, tls_verify_depth: 2 });
      assert.deepEqual(await statuses(allowed, thrice), [200, 200, 200]);
      assert.equal(backend.connections.at(-1)?.reused, true);
      assert.deepEqual(await statuses(path, thrice), [502, 502, 502]);
    });
  }

  it('sends and checks the host name of the client where the route preserves the host', async () => {
    const backend = await startBackend('app.test', { keepAlive: true });
    const path = await route(backend.port, { tls_verify: true }, { preserve_host: true });
    const hosts = ['app.test', 'APP.test:8443', 'evil.test', 'app.test', 'localhost', '127.0.0.1'];
    assert.deepEqual(await statuses(path, hosts), [200, 200, 502, 200, 502, 200]);
    const own = await route(backend.port, { tls_verify: true });
    assert.deepEqual(await statuses(own, ['app.test']), [502]);
    assert.equal(backend.connections[0]?.name, 'app.test');
  });

  it('shares no connection between server names', async () => {
    const backend = await startBackend('app.test', { keepAlive: true });
    const path = await route(backend.port, {}, { preserve_host: true });
    assert.deepEqual(await statuses(path, ['a.test', 'b.test', 'a.test', 'b.test']), [200, 200, 200, 200]);
    assert.deepEqual(
      backend.connections.map(({ name }) => name),
      ['a.test', 'b.test'],
    );
  });

  it('keeps idle connections for a limited number of names', async () => {
    const backend = await startBackend('app.test', { keepAlive: true });
    const path = await route(backend.port, {}, { preserve_host: true });
    const names = Array.from({ length: 150 }, (_, index) => `n${index}.test`);
    await statuses(path, names);
    await statuses(path, ['n149.test', 'n0.test']);
    assert.equal(backend.connections.length, 151);
  });

  it('sends the host_header of an upstream, or the Host that a plugin sets, as server name', async () => {
    const backend = await startBackend('app.test');
    await rig.write('PUT', '/upstreams/pool', { host_header: 'app.test' });
    await rig.write('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${backend.port}` });
    const path = await route(backend.port, { url: undefined, protocol: 'https', host: 'pool', tls_verify: true });
    assert.deepEqual(await statuses(path, ['a.test']), [200]);
    const edited = await route(backend.port, { tls_verify: true });
    await rig.write('POST', `/routes${edited}/plugins`, {
      name: 'request-transformer',
      config: { replace: { headers: ['Host:app.test'] } },
    });
    assert.deepEqual(await statuses(edited, ['a.test']), [200]);
    assert.deepEqual(
      backend.connections.map(({ name }) => name),
      ['app.test', 'app.test'],
    );
  });

  it('does not count against a target when the client chose a name that the certificate lacks', async () => {
    const backend = await startBackend('app.test');
    const unhealthy = { tcp_failures: 1, http_failures: 1, timeouts: 1 };
    await rig.write('PUT', '/upstreams/watched', { healthchecks: { passive: { unhealthy } } });
    await rig.write('POST', '/upstreams/watched/targets', { target: `127.0.0.1:${backend.port}` });
    const service = { url: undefined, protocol: 'https', host: 'watched', tls_verify: true };
    const path = await route(backend.port, service, { preserve_host: true });
    assert.deepEqual(await statuses(path, ['evil.test', 'evil.test', 'app.test']), [502, 502, 200]);
  });
});

describe('TLS to backends of streams', () => {
  it('refuses a chain that is too long', async () => {
    const backend = await startBackend('localhost', { depth: 2 });
    await using rig = await startStreamRig([''], { trustedCertificates: authority.file });
    const said = async (depth: number): Promise<string> => {
      const service = { port: backend.port, protocol: 'tls', host: 'localhost' };
      const fields = { ...service, tls_verify: true, tls_verify_depth: depth };
      await rig.route('chain', fields, { protocols: ['tcp'], destinations: [{ port: rig.ports[0] }] });
      using client = await openClient(rig.ports[0] as number);
      client.write('hello');
      return (await client.readToEnd()).text.slice(0, 12);
    };
    assert.equal(await said(2), 'HTTP/1.1 200');
    assert.equal(await said(1), '');
  });
});

describe('the server name of a TLS client', () => {
  it('selects the same route in upper and lower case', async () => {
    await using rig = await startRig({ settings: http2Settings() });
    await rig.write('PUT', '/services/backend/routes/admin', {
      paths: ['/'],
      snis: ['Admin.test', '*.Wild.test'],
      protocols: ['https'],
    });
    await rig.write('POST', '/routes/admin/plugins', { name: 'request-termination', config: { status_code: 403 } });
    for (const servername of ['admin.test', 'ADMIN.test', 'Admin.Test', 'a.WILD.test', 'a.wild.test']) {
      const socket = connect({ port: rig.gateway.proxyTlsPort, servername, rejectUnauthorized: false });
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      let text = '';
      for await (const piece of socket) text += String(piece);
      assert.match(text, /^HTTP\/1\.1 403 /, servername);
    }
  });
});
