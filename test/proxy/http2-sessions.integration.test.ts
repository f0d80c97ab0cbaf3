import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { skipWithoutHttp2Curl } from '../support/curl.ts';
import { Http2Client, openHttp2, readAnswer } from '../support/http2-client.ts';
import {
  Code,
  encodeFields,
  Flag,
  Frame,
  frame,
  getFields,
  openFrames,
  preface,
  uint32,
} from '../support/http2-frames.ts';
import { type Http2Rig, http2Settings, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, answerEach, byName } from '../support/raw-backend.ts';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);

describe('a listener with http2', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({ script: answerEach((request) => answer(`${request.method} ${request.target}`)) });
  });
  after(() => rig.close());

  it('distinguishes the preface from HTTP/1.1 wherever it is split', async () => {
    const bytes = Buffer.concat([
      Buffer.from(preface, 'latin1'),
      frame(Frame.settings, 0, 0),
      frame(Frame.headers, Flag.endHeaders | Flag.endStream, 1, encodeFields(getFields('/split'))),
    ]);
    for (let at = 1; at < preface.length + 12; at++) {
      using client = await openFrames(rig.port, null);
      await new Promise((resolve) => client.socket.write(bytes.subarray(0, at), resolve));
      await new Promise((resolve) => setImmediate(resolve));
      client.write(bytes.subarray(at));
      assert.equal((await client.finished(1)).status, 200, `split at ${at}`);
    }
  });

  it('accepts a preface that arrives byte by byte', async () => {
    using client = await openFrames(rig.port, null);
    for (const byte of preface) await new Promise((resolve) => client.socket.write(byte, resolve));
    client.write(frame(Frame.settings, 0, 0));
    client.request(1, getFields('/bytes'));
    assert.equal((await client.finished(1)).status, 200);
  });

  it('serves HTTP/1.1, including methods that begin like the preface', async () => {
    for (const method of ['GET', 'PRI', 'PRIVATE', 'P']) {
      const got = await exchangeOne(rig.port, `${method} /one HTTP/1.1\r\nHost: a\r\n\r\n`);
      assert.equal(got.body, `${method} /one`);
    }
    using client = await openClient(rig.port);
    for (const piece of ['P', 'R', 'I ', '/late HTTP/1.1\r\nHos', 't: a\r\n\r\n']) await client.send(piece);
    assert.equal((await client.readResponse()).body, 'PRI /late');
  });

  it('refuses bytes that are neither', async () => {
    const got = await exchangeOne(rig.port, 'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n');
    assert.equal(got.status, 400);
  });

  it('serves HTTP/1.1 to TLS clients that offer it by ALPN or offer nothing', async () => {
    for (const options of [{ ALPNProtocols: ['http/1.1'] }, {}]) {
      const socket = connectTls({ host: '127.0.0.1', port: rig.tlsPort, rejectUnauthorized: false, ...options });
      socket.write('GET /tls HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      let text = '';
      for await (const piece of socket) text += String(piece);
      assert.ok(text.startsWith('HTTP/1.1 200 '));
      assert.ok(text.endsWith('GET /tls'));
    }
  });

  it('does not upgrade HTTP/1.1 (h2c)', async () => {
    const got = await exchangeOne(
      rig.port,
      'GET /h2c HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n',
    );
    assert.equal(got.status, 200);
    assert.equal(got.body, 'GET /h2c');
  });

  it('serves curl', { skip: skipWithoutHttp2Curl() }, async () => {
    const over = async (...args: string[]): Promise<string> =>
      (await run('curl', ['-sk', '--max-time', '5', '-w', ' %{http_version}', ...args])).stdout;
    assert.equal(await over('--http2-prior-knowledge', `http://127.0.0.1:${rig.port}/curl`), 'GET /curl 2');
    assert.equal(await over('--http2', `https://127.0.0.1:${rig.tlsPort}/curl`), 'GET /curl 2');
    assert.equal(await over('--http1.1', `https://127.0.0.1:${rig.tlsPort}/curl`), 'GET /curl 1.1');
    assert.equal(await over('--http2', `http://127.0.0.1:${rig.port}/curl`), 'GET /curl 1.1');
    assert.equal(await over('--http2', '-d', 'x', `https://127.0.0.1:${rig.tlsPort}/curl`), 'POST /curl 2');
  });
});

it('a listener with proxy_protocol reads the PROXY header before HTTP/2, plain and with TLS', async () => {
  const both = http2Settings();
  const proxyListen = (both.proxyListen ?? []).map((address) => ({ ...address, proxyProtocol: true }));
  await using rig = await startHttp2Rig({
    settings: { ...both, proxyListen, trustedIps: ['127.0.0.1'], realIpHeader: 'proxy_protocol' },
  });
  using client = await openFrames(rig.port, null);
  client.write('PROXY TCP4 192.0.2.7 192.0.2.8 1234 80\r\n', preface, frame(Frame.settings, 0, 0));
  client.request(1, getFields('/plain'));
  assert.equal((await client.finished(1)).status, 200);
  const raw = await openClient(rig.tlsPort);
  await raw.send('PROXY TCP4 192.0.2.9 192.0.2.8 1234 443\r\n');
  const socket = connectTls({ socket: raw.socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  const session = new Http2Client(connectHttp2('https://gateway.test', { createConnection: () => socket }));
  assert.equal((await session.request('/tls')).status, 200);
  await session.close();
  const seen = rig.backend.requests.map((request) => [request.target, request.get('x-real-ip')]);
  assert.deepEqual(seen, [
    ['/plain', '192.0.2.7'],
    ['/tls', '192.0.2.9'],
  ]);
});

it('a listener without http2 answers the preface with 400', async () => {
  await using rig = await startRig();
  const got = await exchangeOne(rig.port, `${preface}${frame(Frame.settings, 0, 0).toString('latin1')}`);
  assert.equal(got.status, 400);
});

/** Client connections that the gateway counts. */
async function connections(rig: Http2Rig): Promise<number> {
  const { body } = await rig.gateway.admin('GET', '/status');
  return (body['server'] as { connections_active: number }).connections_active;
}

describe('an HTTP/2 session', () => {
  it('of a silent client ends', async () => {
    await using rig = await startHttp2Rig({ settings: { clientHeaderTimeout: 300 } });
    for (const begin of ['', preface.slice(0, 10), preface]) {
      using client = await openFrames(rig.port, null);
      if (begin !== '') client.write(begin);
      await client.until(() => client.closed);
    }
  });

  it('of an idle client ends with GOAWAY', async () => {
    await using rig = await startHttp2Rig({ settings: { keepaliveTimeout: 300 } });
    using client = await openFrames(rig.port);
    client.request(1, getFields('/'));
    assert.equal((await client.finished(1)).status, 200);
    assert.equal(await client.refused(), Code.noError);
    await client.until(() => client.closed);
  });

  it('ends after the maximum number of requests', async () => {
    await using rig = await startHttp2Rig({ settings: { keepaliveRequests: 3 } });
    // Such a client never closes its side first.
    using client = await openFrames(rig.port, new Uint8Array(0), true);
    for (const stream of [1, 3, 5]) client.request(stream, getFields('/'));
    for (const stream of [1, 3, 5]) assert.equal((await client.finished(stream)).status, 200);
    assert.equal(await client.refused(), Code.noError);
    await until(async () => (await connections(rig)) === 0);
  });

  it('ignores what arrives on streams behind its final GOAWAY', async () => {
    const release = Promise.withResolvers<void>();
    await using rig = await startHttp2Rig({
      settings: { keepaliveRequests: 1 },
      script: byName({
        slow: async (connection) => {
          await release.promise;
          connection.write(answer('finished'));
        },
      }),
    });
    using client = await openFrames(rig.port);
    client.request(1, getFields('/slow'));
    assert.equal(await client.refused(), Code.noError);
    client.request(3, getFields('/late'), false);
    client.write(
      frame(Frame.data, Flag.endStream, 3, 'body'),
      frame(Frame.windowUpdate, 0, 3, uint32(10_000)),
      frame(Frame.rstStream, 0, 3, uint32(Code.cancel)),
      frame(Frame.ping, 0, 0, '12345678'),
    );
    await client.until(() => client.pongs === 1);
    release.resolve();
    const record = await client.finished(1);
    assert.equal(record.status, 200);
    assert.equal(record.ended, true);
    assert.equal(client.goawayCode, Code.noError);
    assert.ok(!rig.backend.received.includes('/late'));
  });

  it('finishes requests in flight when the gateway stops', async () => {
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const rig = await startHttp2Rig({
      script: byName({
        slow: async (connection) => {
          asked.resolve();
          await release.promise;
          connection.write(answer('finished'));
        },
      }),
    });
    const client = await openHttp2(rig.port);
    const idle = await openHttp2(rig.tlsPort, true);
    const goaway = once(client.session, 'goaway');
    const idleClosed = once(idle.session, 'close');
    const slow = readAnswer(client.open('/slow', {}, true));
    await asked.promise;
    const stopped = rig.gateway.gateway.stop(true);
    assert.equal((await goaway)[0], Code.noError);
    await idleClosed;
    release.resolve();
    assert.equal(String((await slow).body), 'finished');
    await stopped;
    await client.close();
    await rig.close();
  });
});
