import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { helloMessage, inRecords } from '../../src/data/listener/client-hello.fixture.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { selfSigned } from '../support/self-signed.ts';
import { openssl, secured, shown } from '../support/tls-client.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-handshakes-'));
const log = join(folder, 'error.log');
let rig: Rig;
let plainHttp1: number;
let withHttp2: number;

before(async () => {
  rig = await startRig({
    env: {
      KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl, 127.0.0.1:0 ssl http2',
      KONG_LOG_LEVEL: 'debug',
      KONG_PROXY_ERROR_LOG: log,
    },
  });
  const ports = rig.gateway.gateway.addresses.proxy.filter(({ ssl }) => ssl).map((address) => address.port);
  [plainHttp1, withHttp2] = ports as [number, number];
});
after(async () => {
  await rig.close();
  rmSync(folder, { recursive: true });
});

async function protocolWith(port: number, offered: readonly string[]): Promise<string | false | null> {
  const socket = await secured(port, { ALPNProtocols: [...offered] });
  const { alpnProtocol } = socket;
  socket.destroy();
  return alpnProtocol;
}

describe('ALPN', () => {
  it('offers h2 on listeners with http2, and http/1.1 on all', async () => {
    assert.equal(await protocolWith(plainHttp1, ['h2', 'http/1.1']), 'http/1.1');
    assert.equal(await protocolWith(withHttp2, ['http/1.1', 'h2']), 'h2');
    assert.equal(await protocolWith(withHttp2, ['http/1.1']), 'http/1.1');
    assert.equal(await protocolWith(withHttp2, []), false);
  });

  it('refuses a client that speaks neither', async () => {
    const code = { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' };
    await assert.rejects(protocolWith(plainHttp1, ['h2']), code);
    await assert.rejects(protocolWith(withHttp2, ['spdy/3', 'http/0.9']), code);
  });
});

describe('a handshake', () => {
  it('is not repeated on a connection', async () => {
    const text = await openssl(plainHttp1, ['-tls1_2'], 'R\nQ\n');
    assert.match(text, /RENEGOTIATING/);
    assert.match(text, /no renegotiation/);
  });

  it('that fails is logged at level debug, throttled', async () => {
    for (let turn = 0; turn < 50; turn++) {
      const socket = connectPlain(plainHttp1, '127.0.0.1').on('error', () => {});
      socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'close');
    }
    const lines = (): readonly string[] =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.includes('a TLS handshake failed'));
    await until(() => lines().length > 0);
    assert.ok(lines().length < 20, `${lines().length} lines`);
    assert.equal(await shown(plainHttp1, 'localhost'), 'localhost ec');
  });

  it('that hangs delays no other client and not the stop of the node', async () => {
    const sockets = Array.from({ length: 300 }, () => connectPlain(plainHttp1, '127.0.0.1').on('error', () => {}));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets.slice(150)) socket.write(inRecords(helloMessage()).subarray(0, 40));
    assert.equal(await shown(plainHttp1, 'localhost'), 'localhost ec');
    for (const socket of sockets) socket.destroy();
  });

  it('is read in pieces of any size when a name has two certificates, and garbage is refused', async () => {
    const [ec, rsa] = [selfSigned('pair'), selfSigned('pair', 'rsa')];
    const pair = { cert: ec.cert, key: ec.key, cert_alt: rsa.cert, key_alt: rsa.key, snis: ['pair.test'] };
    const { id } = await rig.write('POST', '/certificates', pair);
    const rubbish = connectPlain(plainHttp1, '127.0.0.1').on('error', () => {});
    rubbish.write('GET / HTTP/1.1\r\n\r\n');
    await once(rubbish, 'close');
    // A ClientHello without extensions is answered with an alert, wherever it is split.
    const message = inRecords(helloMessage({ extensions: null }), 7);
    const cut = connectPlain({ port: plainHttp1, host: '127.0.0.1', noDelay: true });
    cut.on('error', () => {});
    let answered = Buffer.alloc(0);
    cut.on('data', (data: Buffer) => {
      answered = Buffer.concat([answered, data]);
    });
    for (const byte of message) {
      if (cut.destroyed) break;
      await new Promise<void>((resolve) => cut.write(Buffer.from([byte]), () => resolve()));
    }
    await once(cut, 'close');
    assert.equal(answered[0], 21);
    assert.equal(
      await shown(plainHttp1, 'pair.test', {
        maxVersion: 'TLSv1.2',
        ciphers: 'AES128-SHA:ECDHE-RSA-AES128-GCM-SHA256',
      }),
      'pair rsa',
    );
    await rig.gateway.admin('DELETE', `/certificates/${id}`);
  });
});
