import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { ListenAddress, Settings } from '../../src/shared/settings/settings.ts';
import { openClient, type RawClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { selfSigned } from '../support/self-signed.ts';
import { testSettings } from '../support/settings.ts';

const request = 'GET /who HTTP/1.1\r\nHost: a.test\r\n\r\n';
const v1 = 'PROXY TCP4 192.0.2.7 10.0.0.1 40000 443\r\n';
const signature = '\r\n\r\n\0\r\nQUIT\n';
const v2 = `${signature}\x21\x11\0\x0c\xc0\0\x02\x08\x0a\0\0\x01\x9c\x40\x01\xbb`;
const local = `${signature}\x20\0\0\0`;

const [plain] = testSettings({ prefix: '/' }).proxyListen as readonly [ListenAddress];
const proxied = { ...plain, proxyProtocol: true, listener: '127.0.0.1:0 proxy_protocol' };
const listeners = [plain, proxied, { ...proxied, ssl: true }, { ...proxied, http2: true }];

async function start(settings: Partial<Settings>): Promise<Rig & { readonly ports: readonly number[] }> {
  const { cert, key } = selfSigned('gateway.test');
  const rig = await startRig({ settings: { proxyListen: listeners, sslCert: [cert], sslCertKey: [key], ...settings } });
  return { ...rig, ports: rig.gateway.gateway.addresses.proxy.map((address) => address.port) };
}

/** The client address that the backend received with the last request. */
function told(rig: Rig): Readonly<Record<string, string | undefined>> {
  const last = rig.backend.requests.at(-1);
  const value = (name: string): string | undefined => last?.all(name).join(' | ');
  return { real: value('X-Real-IP'), forwarded: value('X-Forwarded-For'), proto: value('X-Forwarded-Proto') };
}

async function ask(port: number, ...pieces: readonly string[]): Promise<number> {
  using client = await openClient(port);
  for (const piece of pieces) await client.send(piece);
  return (await client.readResponse()).status;
}

async function closedWith(port: number, bytes: string): Promise<string> {
  using client: RawClient = await openClient(port);
  client.write(bytes);
  return (await client.readToEnd()).text;
}

describe('a listener with proxy_protocol, behind a trusted proxy', () => {
  let rig: Awaited<ReturnType<typeof start>>;
  let port = 0;
  before(async () => {
    const settings = { trustedIps: ['127.0.0.1'], realIpHeader: 'proxy_protocol', clientHeaderTimeout: 300 };
    rig = await start(settings);
    port = rig.ports[1]!;
  });
  after(() => rig.close());

  it('uses the client of the PROXY header, version 1 and 2, not of HTTP headers', async () => {
    assert.equal(await ask(port, v1 + request), 200);
    assert.deepEqual(told(rig), { real: '192.0.2.7', forwarded: '192.0.2.7', proto: 'http' });
    const lying = 'GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: https\r\nProxy_Protocol: 1.1.1.1\r\n\r\n';
    assert.equal(await ask(port, v2 + lying), 200);
    assert.deepEqual(told(rig), { real: '192.0.2.8', forwarded: '192.0.2.8', proto: 'http' });
  });

  it('uses the address of the proxy when the header names no client', async () => {
    for (const header of ['PROXY UNKNOWN\r\n', local]) {
      assert.equal(await ask(port, header + request), 200);
      assert.equal(told(rig).real, '127.0.0.1');
    }
  });

  it('reads PROXY headers and requests that are split at every byte', async () => {
    for (const header of [v1, v2]) {
      const bytes = header + request;
      for (let at = 1; at <= header.length + 1; at++) {
        assert.equal(await ask(port, bytes.slice(0, at), bytes.slice(at)), 200, `split at ${at}`);
      }
      assert.equal(await ask(port, ...bytes), 200);
    }
  });

  it('serves further requests on the connection', async () => {
    using client = await openClient(port);
    client.write(v1 + request + request);
    assert.equal((await client.readResponse()).status, 200);
    assert.equal((await client.readResponse()).status, 200);
    client.write(request);
    assert.equal((await client.readResponse()).status, 200);
    assert.equal(told(rig).real, '192.0.2.7');
  });

  it('reads the header before TLS', async () => {
    for (const split of [v1.length, 5]) {
      const raw = connect(rig.ports[2]!, '127.0.0.1');
      raw.setNoDelay(true);
      await written(raw, v1.slice(0, split));
      await written(raw, v1.slice(split));
      const socket = connectTls({ socket: raw, rejectUnauthorized: false });
      socket.write(request);
      const answer = await new Promise<string>((resolve, reject) => {
        socket.once('data', (data) => resolve(data.toString('latin1')));
        socket.once('error', reject);
      });
      socket.destroy();
      assert.match(answer, /^HTTP\/1\.1 200 /);
      assert.deepEqual(told(rig), { real: '192.0.2.7', forwarded: '192.0.2.7', proto: 'https' });
    }
  });

  it('reads a ClientHello sent together with the header', async () => {
    const hello = await clientHello();
    using client = await openClient(rig.ports[2]!);
    client.write(Buffer.concat([Buffer.from(v2, 'latin1'), hello]));
    // A handshake record with a ServerHello.
    assert.match(await client.reader.readExactly(6), /^\x16\x03\x03..\x02$/s);
  });

  it('reads the header before HTTP/2 with prior knowledge', async () => {
    using client = await openClient(rig.ports[3]!);
    client.write(`${v1}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0`);
    // A SETTINGS frame of stream 0.
    assert.match(await client.reader.readExactly(9), /^\0.{2}\x04.\0{4}$/s);
  });

  it('closes a connection without a valid header, and sends no answer', async () => {
    const hello = (await clientHello()).toString('latin1');
    for (const bytes of [
      request,
      'PROXY TCP4 1.2.3.4\r\n',
      `PROXY TCP4 ${'1'.repeat(200)}`,
      hello,
      '\r\n\r\n\0\r\nQUIT\n\x31',
    ]) {
      assert.equal(await closedWith(port, bytes), '');
      assert.equal(await closedWith(rig.ports[2]!, bytes), '');
    }
    const log = await readFile(rig.gateway.settings.proxyErrorLog, 'utf8');
    assert.match(log, /connection of 127\.0\.0\.1 closed: no PROXY header/);
  });

  it('waits for the header as long as for a request head', async () => {
    assert.equal(await closedWith(port, ''), '');
    assert.equal(await closedWith(port, v1.slice(0, 20)), '');
  });

  it('refuses the header on a listener without the flag', async () => {
    assert.equal(await ask(rig.ports[0]!, v1 + request), 400);
    assert.equal(await ask(rig.ports[0]!, request), 200);
    assert.equal(told(rig).real, '127.0.0.1');
  });
});

describe('a listener with proxy_protocol', () => {
  for (const [name, settings] of [
    ['behind no trusted proxy', { realIpHeader: 'proxy_protocol' }],
    ['whose clients are named by a header field', { trustedIps: ['127.0.0.1'], realIpHeader: 'x-real-ip' }],
  ] as const) {
    it(`${name} requires the header, and does not use its client`, async () => {
      const rig = await start(settings);
      try {
        assert.equal(await ask(rig.ports[1]!, v1 + request), 200);
        assert.equal(told(rig).real, '127.0.0.1');
        assert.equal(await closedWith(rig.ports[1]!, request), '');
      } finally {
        await rig.close();
      }
    });
  }
});

async function written(socket: Socket, bytes: string): Promise<void> {
  await new Promise<void>((resolve) => socket.write(bytes, 'latin1', () => resolve()));
}

/** The first bytes of a TLS client. */
async function clientHello(): Promise<Buffer> {
  const { Duplex } = await import('node:stream');
  return await new Promise((resolve) => {
    const wire = new Duplex({ read() {}, write: (bytes: Buffer) => resolve(bytes) });
    connectTls({ socket: wire, servername: 'a.test' }).on('error', () => {});
  });
}
