import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Server } from 'node:net';
import { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { type ConnectionOptions, connect, createServer, type TLSSocket } from 'node:tls';
import { helloMessage, inRecords, sniExtension } from '../../src/data/listener/client-hello.fixture.ts';
import { openClient } from '../support/raw-client.ts';
import { selfSigned } from '../support/self-signed.ts';
import { type StreamRig, startStreamRig } from '../support/stream-rig.ts';
import { until } from '../support/until.ts';

const own = selfSigned('gateway.test');
const shop = selfSigned('shop.test');
const secret = selfSigned('secret.test');
const backendTls = selfSigned('backend.test');

interface Backend {
  readonly port: number;
  readonly server: Server;
  /** Connections so far. */
  count(): number;
}

/** Sends its name, then echoes bytes and the end of the stream. */
async function startBackend(name: string, tls?: { readonly cert: string; readonly key: string }): Promise<Backend> {
  let count = 0;
  const serve = (socket: Duplex): void => {
    count++;
    socket.on('error', () => {});
    socket.write(`${name}\n`);
    socket.pipe(socket);
  };
  const options = { allowHalfOpen: true };
  const server = tls === undefined ? createTcpServer(options, serve) : createServer({ ...tls, ...options }, serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server, count: () => count };
}

interface Spoken {
  /** Common name of the certificate that the server sent. */
  readonly subject: string;
  readonly text: string;
}

/** Opens TLS, sends hello, ends its side, and reads until the end. */
function speak(port: number, servername: string, options: ConnectionOptions = {}): Promise<Spoken> {
  return new Promise((resolve, reject) => {
    const target = options.socket === undefined ? { host: '127.0.0.1', port } : {};
    const name = servername === '' ? {} : { servername };
    const socket: TLSSocket = connect({ ...target, ...name, rejectUnauthorized: false, ...options }, () => {
      const subject = String(socket.getPeerCertificate().subject.CN);
      let text = '';
      socket.on('data', (data) => {
        text += data;
      });
      socket.on('end', () => {
        socket.destroy();
        resolve({ subject, text });
      });
      socket.end('hello');
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed')));
  });
}

async function refused(port: number, servername: string): Promise<boolean> {
  return await speak(port, servername).then(
    () => false,
    () => true,
  );
}

describe('a listener of TLS streams', () => {
  let rig: StreamRig;
  let port = 0;
  let proxied = 0;
  let plain: Backend;
  let tls: Backend;
  before(async () => {
    const settings = {
      sslCert: [own.cert],
      sslCertKey: [own.key],
      workers: 2,
      trustedIps: ['127.0.0.1'],
      realIpHeader: 'proxy_protocol',
    };
    rig = await startStreamRig(['ssl', 'ssl proxy_protocol', ''], settings);
    [port = 0, proxied = 0] = rig.ports;
    plain = await startBackend('plain');
    tls = await startBackend('tls', backendTls);
    await rig.write('POST', '/certificates', { ...shop, snis: ['shop.test', '*.shop.test'] });
    await rig.route('shop', { port: plain.port }, { protocols: ['tls'], snis: ['shop.test', '*.shop.test'] });
    await rig.route('pass', { port: tls.port }, { protocols: ['tls_passthrough'], snis: ['pass.test'] });
    const anything = { protocols: ['tls'], destinations: [{ port }], sources: null };
    await rig.route('rest', { port: tls.port, protocol: 'tls', host: 'localhost' }, anything);
  });
  after(async () => {
    await rig.close();
    plain.server.close();
    tls.server.close();
  });

  it('terminates TLS with the certificate of the server name', async () => {
    assert.deepEqual(await speak(port, 'shop.test'), { subject: 'shop.test', text: 'plain\nhello' });
    assert.deepEqual(await speak(port, 'de.shop.test'), { subject: 'shop.test', text: 'plain\nhello' });
    assert.deepEqual(await speak(port, 'Shop.Test', { maxVersion: 'TLSv1.2' }), {
      subject: 'shop.test',
      text: 'plain\nhello',
    });
  });

  it('resumes the session of an earlier stream, on any worker', async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const options = { host: '127.0.0.1', port, servername: 'shop.test', rejectUnauthorized: false, maxVersion };
      const first = connect(options);
      const ticket = once(first, 'session');
      first.resume();
      const [session] = (await ticket) as [Buffer];
      first.destroy();
      // Some of them reach the other worker.
      for (let turn = 0; turn < 8; turn++) {
        const next = connect({ ...options, session });
        await once(next, 'secureConnect');
        assert.equal(next.isSessionReused(), true, maxVersion);
        const [greeting] = (await once(next, 'data', { signal: AbortSignal.timeout(8_000) })) as [Buffer];
        assert.equal(greeting.toString(), 'plain\n');
        next.destroy();
      }
    }
  });

  it('uses its own certificate for other names and for none, and connects by TLS where the service requires it', async () => {
    assert.deepEqual(await speak(port, 'other.test'), { subject: 'gateway.test', text: 'tls\nhello' });
    assert.deepEqual(await speak(port, ''), { subject: 'gateway.test', text: 'tls\nhello' });
  });

  it('passes TLS through to the backend, whose certificate the client receives', async () => {
    assert.deepEqual(await speak(port, 'pass.test'), { subject: 'backend.test', text: 'tls\nhello' });
  });

  it('serves a new certificate as soon as the Admin API has answered', async () => {
    await rig.write('POST', '/certificates', { ...secret, snis: ['secret.test'] });
    assert.equal((await speak(port, 'secret.test')).subject, 'secret.test');
  });

  it('reads a ClientHello that arrives byte by byte', async () => {
    for (const name of ['shop.test', 'pass.test']) {
      const raw = connectTcp({ port, host: '127.0.0.1', noDelay: true });
      await once(raw, 'connect');
      let first = true;
      const slow = new Duplex({
        read() {},
        write(bytes: Buffer, _, done) {
          if (!first) raw.write(bytes, done);
          else void trickle(bytes).then(() => done());
          first = false;
        },
        final: (done) => raw.end(done),
      });
      const trickle = async (bytes: Buffer): Promise<void> => {
        for (const byte of bytes) await new Promise((resolve) => raw.write(Buffer.from([byte]), resolve));
      };
      raw.on('data', (data) => slow.push(data));
      raw.on('end', () => slow.push(null));
      raw.on('close', () => slow.destroy());
      assert.match((await speak(0, name, { socket: slow })).text, /\nhello$/);
    }
  });

  it('forwards a ClientHello in many records unchanged', async () => {
    const received: Buffer[] = [];
    const sink = createTcpServer((socket) => socket.on('data', (data) => received.push(data)));
    sink.listen(0, '127.0.0.1');
    await once(sink, 'listening');
    await rig.route(
      'raw',
      { port: (sink.address() as AddressInfo).port },
      { protocols: ['tls_passthrough'], snis: ['raw.test'] },
    );
    const hello = inRecords(helloMessage({ extensions: [[0x2a2a, Buffer.alloc(1)], sniExtension('raw.test')] }), 7);
    using client = await openClient(port);
    for (let at = 0; at < hello.length; at += 11) await client.send(hello.subarray(at, at + 11));
    await client.send('and more');
    const expected = Buffer.concat([hello, Buffer.from('and more')]);
    await until(() => Buffer.concat(received).length >= expected.length);
    assert.ok(Buffer.concat(received).equals(expected));
    sink.close();
  });

  it('reads a PROXY header before the ClientHello, and routes by its address', async () => {
    const snis = ['shop.test'];
    await rig.route(
      'office',
      { port: tls.port, protocol: 'tls' },
      { protocols: ['tls'], snis, sources: [{ ip: '192.0.2.0/24' }] },
    );
    const withHeader = async (ip: string): Promise<Spoken> => {
      const raw = connectTcp(proxied, '127.0.0.1');
      raw.write(`PROXY TCP4 ${ip} 10.0.0.1 1234 443\r\n`);
      return await speak(0, 'shop.test', { socket: raw });
    };
    assert.equal((await withHeader('192.0.2.7')).text, 'tls\nhello');
    assert.equal((await withHeader('198.51.100.7')).text, 'plain\nhello');
    assert.ok(await refused(proxied, 'shop.test'));
    await rig.write('DELETE', '/routes/office');
    const { proxyStreamAccessLog } = rig.gateway.settings;
    await until(async () => /^192\.0\.2\.7 \[/m.test(await readFile(proxyStreamAccessLog, 'utf8')));
  });

  it('closes connections without a ClientHello, and with a name that has no route', async () => {
    const before = plain.count() + tls.count();
    const name = (text: string): Buffer => inRecords(helloMessage({ extensions: [sniExtension(text)] }));
    const bad = [Buffer.from('GET / HTTP/1.1\r\n\r\n'), Buffer.from([22, 3, 1, 0, 0]), name('a\0b'), name('*.test')];
    for (const bytes of bad) {
      using client = await openClient(port);
      client.write(bytes);
      assert.deepEqual(await client.readToEnd(), { text: '', kind: 'end' });
    }
    await rig.write('DELETE', '/routes/rest');
    assert.ok(await refused(port, 'other.test'));
    assert.ok(await refused(port, ''));
    assert.equal(plain.count() + tls.count(), before);
  });

  it('limits a stalled handshake of the backend to connect_timeout', async () => {
    const hole = createTcpServer((socket) => socket.on('error', () => {}));
    hole.listen(0, '127.0.0.1');
    await once(hole, 'listening');
    // A failed test must not keep the process alive.
    hole.unref();
    const target = `127.0.0.1:${(hole.address() as AddressInfo).port}`;
    await rig.write('PUT', '/upstreams/pool', {});
    await rig.write('POST', '/upstreams/pool/targets', { target });
    const service = { host: 'pool', protocol: 'tls', connect_timeout: 300, retries: 1 };
    await rig.route('hole', service, { protocols: ['tcp'], destinations: [{ port: rig.ports[2] }] });
    using client = await openClient(rig.ports[2]!);
    const begun = performance.now();
    assert.equal((await client.readToEnd()).text, '');
    const took = performance.now() - begun;
    assert.ok(
      took > 500,
      `two attempts, in ${took} ms: ${JSON.stringify((await rig.gateway.admin('GET', '/status')).body)}`,
    );
    await rig.write('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${tls.port}` });
    for (let turn = 0; turn < 2; turn++) {
      using other = await openClient(rig.ports[2]!);
      assert.equal(await other.reader.readUntil('\n'), 'tls\n');
    }
    hole.close();
  });

  it('works with openssl s_client', async () => {
    for (const [name, greeting] of [
      ['shop.test', 'plain'],
      ['pass.test', 'tls'],
    ] as const) {
      const process = spawn('openssl', ['s_client', '-quiet', '-connect', `127.0.0.1:${port}`, '-servername', name]);
      process.stdin.write('over openssl\n');
      let text = '';
      for await (const data of process.stdout) {
        text += data;
        if (text.includes('over openssl')) break;
      }
      process.kill();
      assert.equal(text, `${greeting}\nover openssl\n`);
    }
  });

  it('resets the client when the backend resets', async () => {
    const breaking = createTcpServer((socket) => {
      // Not before the gateway has connected.
      socket.once('data', () => socket.write(Buffer.alloc(20_000), () => socket.resetAndDestroy()));
    });
    breaking.listen(0, '127.0.0.1');
    await once(breaking, 'listening');
    await rig.route(
      'break',
      { port: (breaking.address() as AddressInfo).port },
      { protocols: ['tls'], snis: ['secret.test'] },
    );
    for (let turn = 0; turn < 20; turn++) {
      const socket = connect({ host: '127.0.0.1', port, servername: 'secret.test', rejectUnauthorized: false });
      socket.resume().write('go');
      const [error] = await once(socket, 'error', { signal: AbortSignal.timeout(8_000) });
      assert.equal(error.code, 'ECONNRESET', 'it does not look like a complete answer');
    }
    breaking.close();
  });
});

describe('a TLS stream that stalls', () => {
  it('is closed after the timeout, in its ClientHello and in its handshake', async () => {
    const settings = { sslCert: [own.cert], sslCertKey: [own.key], streamPrereadTimeout: 300 };
    await using rig = await startStreamRig(['ssl'], settings);
    const [port = 0] = rig.ports;
    await rig.route('all', { port: 1 }, { protocols: ['tls'], destinations: [{ port }] });
    const hello = await firstBytes('a.test');
    for (const bytes of [Buffer.alloc(0), hello.subarray(0, 30), hello]) {
      using client = await openClient(port);
      client.write(bytes);
      const begun = performance.now();
      const { text } = await client.readToEnd();
      assert.ok(performance.now() - begun > 250);
      assert.equal(text === '', bytes !== hello);
    }
  });
});

/** The first bytes of a TLS client. */
async function firstBytes(servername: string): Promise<Buffer> {
  return await new Promise((resolve) => {
    const wire = new Duplex({ read() {}, write: (bytes: Buffer) => resolve(bytes) });
    connect({ socket: wire, servername }).on('error', () => {});
  });
}
