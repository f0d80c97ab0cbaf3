import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { CertificateAuthority, type IssuedCertificate, type IssueOptions } from '../support/certificate-authority.ts';
import { type Rig, startRig } from '../support/rig.ts';

const authority = new CertificateAuthority();
const stranger = new CertificateAuthority('stranger');
const folder = mkdtempSync(join(tmpdir(), 'sluicegate-upstream-tls-'));
const servers: Server[] = [];
let rig: Rig;
let serial = 0;

interface Backend {
  readonly port: number;
  /** The certificate and server name of each connection. */
  readonly connections: { readonly reused: boolean; readonly servername: string; readonly client: string | null }[];
}

/** Answers each request and closes, so that every request needs a handshake. */
async function startTlsBackend(own: IssuedCertificate, asksFor: string | null = null): Promise<Backend> {
  const connections: Backend['connections'] = [];
  const server = createServer(
    { ...own, ...(asksFor === null ? {} : { ca: asksFor, requestCert: true, rejectUnauthorized: true }) },
    (socket: TLSSocket) => {
      const { servername } = socket as TLSSocket & { readonly servername: string | false };
      connections.push({
        reused: socket.isSessionReused(),
        servername: servername === false ? '' : servername,
        client: (socket.getPeerCertificate()?.subject?.CN as string | undefined) ?? null,
      });
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'));
    },
  );
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return { port: (server.address() as AddressInfo).port, connections };
}

before(async () => {
  rig = await startRig({
    env: {
      KONG_LUA_SSL_TRUSTED_CERTIFICATE: authority.file,
      KONG_PROXY_ERROR_LOG: join(folder, 'error.log'),
    },
  });
});
after(async () => {
  await rig.close();
  for (const server of servers) server.close();
  authority[Symbol.dispose]();
  stranger[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

async function statusOf(port: number, fields: Readonly<Record<string, unknown>> = {}, times = 1): Promise<number> {
  const name = `t${serial++}`;
  await rig.write('PUT', `/services/${name}`, { url: `https://localhost:${port}`, retries: 0, ...fields });
  await rig.write('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  let status = 0;
  for (let turn = 0; turn < times; turn++) {
    const response = await fetch(`${rig.gateway.proxyUrl}/${name}`);
    await response.arrayBuffer();
    status = response.status;
  }
  return status;
}

async function issued(host: string, options?: IssueOptions): Promise<Backend> {
  return startTlsBackend(authority.issue(host, options));
}

describe('a backend with TLS', () => {
  it('receives the requested host as server name', async () => {
    const backend = await issued('localhost');
    assert.equal(await statusOf(backend.port), 200);
    assert.equal(backend.connections[0]?.servername, 'localhost');
  });

  it('is verified only when the service requires it', async () => {
    const cases: readonly (readonly [Backend, string])[] = [
      [await issued('other.test'), 'of another name'],
      [await issued('localhost', { days: -1 }), 'ended'],
      [await startTlsBackend(stranger.issue('localhost')), 'of a stranger'],
    ];
    assert.equal(await statusOf((await issued('localhost')).port, { tls_verify: true }), 200);
    for (const [backend, what] of cases) {
      assert.equal(await statusOf(backend.port, { tls_verify: true }), 502, what);
      assert.equal(await statusOf(backend.port, { tls_verify: false }), 200, what);
    }
  });

  it('is verified with the authorities of the service instead of those of the node', async () => {
    const backend = await startTlsBackend(stranger.issue('localhost'));
    const ca = await rig.write('POST', '/ca_certificates', { cert: stranger.cert });
    assert.equal(await statusOf(backend.port, { tls_verify: true, ca_certificates: [ca['id']] }), 200);
    const ours = await issued('localhost');
    assert.equal(await statusOf(ours.port, { tls_verify: true, ca_certificates: [ca['id']] }), 502);
  });

  it('is verified up to the configured depth', async () => {
    const backend = await issued('localhost', { depth: 2 });
    assert.equal(await statusOf(backend.port, { tls_verify: true, tls_verify_depth: 2 }), 200);
    assert.equal(await statusOf(backend.port, { tls_verify: true, tls_verify_depth: 1 }), 502);
  });

  it('receives the client certificate of the service, of the upstream, or none', async () => {
    const backend = await startTlsBackend(authority.issue('localhost'), authority.cert);
    assert.equal(await statusOf(backend.port), 502);
    const mine = await rig.write('POST', '/certificates', { ...authority.issue('client.test') });
    const pools = await rig.write('POST', '/certificates', { ...authority.issue('pool.test') });
    assert.equal(await statusOf(backend.port, { client_certificate: { id: mine['id'] } }), 200);
    assert.equal(backend.connections.at(-1)?.client, 'client.test');
    await rig.write('PUT', '/upstreams/pool', { client_certificate: { id: pools['id'] } });
    await rig.write('POST', '/upstreams/pool/targets', { target: `localhost:${backend.port}` });
    assert.equal(await statusOf(backend.port, { host: 'pool', url: undefined, protocol: 'https' }), 200);
    assert.equal(backend.connections.at(-1)?.client, 'pool.test');
    const both = { host: 'pool', url: undefined, protocol: 'https', client_certificate: { id: mine['id'] } };
    assert.equal(await statusOf(backend.port, both), 200);
    assert.equal(backend.connections.at(-1)?.client, 'client.test');
  });

  it('resumes a session instead of a full handshake', async () => {
    const backend = await issued('localhost');
    assert.equal(await statusOf(backend.port, { tls_verify: true }, 4), 200);
    assert.deepEqual(
      backend.connections.map(({ reused }) => reused),
      [false, true, true, true],
    );
  });

  it('that fails verification is named in the error log, with the reason', async () => {
    const backend = await issued('elsewhere.test');
    await statusOf(backend.port, { tls_verify: true });
    const log = readFileSync(join(folder, 'error.log'), 'utf8');
    assert.match(log, /Hostname\/IP does not match certificate's altnames/);
    assert.doesNotMatch(log, /PRIVATE KEY/);
  });
});

it('receives the certificate of the node with client_ssl if it requests one', async () => {
  const backend = await startTlsBackend(authority.issue('localhost'), authority.cert);
  const { cert, key } = authority.issue('node.test');
  await using other = await startRig({
    env: { KONG_CLIENT_SSL: 'on', KONG_CLIENT_SSL_CERT: cert, KONG_CLIENT_SSL_CERT_KEY: key },
    service: { url: `https://localhost:${backend.port}` },
  });
  assert.equal((await fetch(`${other.gateway.proxyUrl}/`)).status, 200);
  assert.equal(backend.connections[0]?.client, 'node.test');
});
