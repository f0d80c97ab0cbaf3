import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { grpcClient, startGrpcBackend, unary } from '../support/grpc.ts';
import { openHttp2 } from '../support/http2-client.ts';
import { until } from '../support/until.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { type BodiesRig, bodiesOf, startBodiesRig } from './bodies-rig.fixture.ts';

/** Bodies in records, as `traffic_recorder_bodies` requests. */

const limit = 4_096;

let rig: BodiesRig;
before(async () => {
  rig = await startBodiesRig({ SLUICEGATE_TRAFFIC_RECORDER_BODIES: String(limit) });
});
after(() => rig?.close());

const json = { 'content-type': 'application/json' };
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = json): RequestInit => ({
  method: 'POST',
  headers,
  body,
});

describe('recorded bodies', () => {
  it('are shown as text, up to the limit', async () => {
    const { request, response } = bodiesOf(await rig.recordOf('/open', post('{"hello":"wörld"}')));
    const whole = { media_type: 'application/json', bytes: 18, truncated: false, text: '{"hello":"wörld"}' };
    assert.deepEqual(request, whole);
    assert.deepEqual(response, whole);
    // The limit is in the middle of a character.
    const long = bodiesOf(await rig.recordOf('/open', post(`x${'ö'.repeat(5_000)}`, { 'content-type': 'text/plain' })));
    const cut = { media_type: 'text/plain', bytes: 10_001, truncated: true, text: `x${'ö'.repeat((limit - 2) / 2)}` };
    assert.deepEqual(long.request, cut);
    assert.deepEqual(long.response, cut);
  });

  it('of a request without any are none, and what was not read is not shown', async () => {
    const get = await rig.recordOf('/open');
    assert.equal(bodiesOf(get).request, 'none');
    assert.equal(bodiesOf(get).response, null);
    const refused = bodiesOf(await rig.recordOf('/nowhere', post('{"a":1}')));
    assert.equal(refused.request, '7 bytes');
    assert.match(refused.response.text, /no Route matched/);
    assert.equal(bodiesOf(await rig.recordOf('/open', { method: 'HEAD' })).response, null);
  });

  it('are decoded', async () => {
    const body = JSON.stringify({ list: Array.from({ length: 50 }, (_, at) => at) });
    for (const [coding, bytes] of [
      ['gzip', gzipSync(body)],
      ['deflate', deflateSync(body)],
      ['deflate', deflateRawSync(body)],
      ['br', brotliCompressSync(body)],
      ['zstd', zstdCompressSync(body)],
      ['gzip, br', brotliCompressSync(gzipSync(body))],
    ] as const) {
      const sent = post(Buffer.from(bytes), { ...json, 'content-encoding': coding });
      const { request, response } = bodiesOf(await rig.recordOf('/open', sent));
      const shown = { media_type: 'application/json', bytes: bytes.byteLength, truncated: false, text: body };
      assert.deepEqual([request, response], [shown, shown], coding);
    }
  });

  it('that were recorded in part are decoded as far as they go', async () => {
    const body = Array.from({ length: 5_000 }, (_, at) => Math.imul(at, 2_654_435_761) >>> 0).join(',');
    for (const [coding, bytes] of [
      ['gzip', gzipSync(body)],
      ['br', brotliCompressSync(body)],
      ['zstd', zstdCompressSync(body)],
    ] as const) {
      assert.ok(bytes.byteLength > 2 * limit);
      const sent = post(Buffer.from(bytes), { 'content-type': 'text/plain', 'content-encoding': coding });
      const { request } = bodiesOf(await rig.recordOf('/open', sent));
      assert.equal(request.truncated, true, coding);
      assert.ok(request.text === undefined ? request.reason : body.startsWith(request.text), coding);
      if (coding === 'gzip') assert.ok(request.text.length > 1_000);
    }
  });

  it('that are bombs are decoded no further than the limit', async () => {
    const zeros = Buffer.alloc(50_000_000, 'a');
    for (const [coding, bytes] of [
      ['gzip', gzipSync(zeros)],
      ['gzip, gzip', gzipSync(gzipSync(zeros))],
      ['br', brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
      ['zstd', zstdCompressSync(zeros)],
    ] as const) {
      rig.answers.set('/open/bomb', (request, response) => {
        request.resume();
        response.end('ok');
      });
      const before = process.memoryUsage.rss();
      const sent = post(Buffer.from(bytes), { 'content-type': 'text/plain', 'content-encoding': coding });
      const { request } = bodiesOf(await rig.recordOf('/open/bomb', sent));
      assert.equal(request.truncated, true);
      assert.ok(request.text === undefined || request.text === 'a'.repeat(request.text.length));
      assert.ok((request.text ?? '').length <= limit, coding);
      assert.ok(process.memoryUsage.rss() - before < 40_000_000, coding);
    }
  });

  it('that are not encoded as they say are left out', async () => {
    for (const coding of ['gzip', 'br', 'zstd', 'compress', 'gzip, gzip, gzip, gzip']) {
      const sent = post('{"secret":"abc"}', { ...json, 'content-encoding': coding });
      const { request } = bodiesOf(await rig.recordOf('/open', sent));
      assert.deepEqual(Object.keys(request).sort(), ['bytes', 'media_type', 'reason', 'truncated'], coding);
      assert.match(request.reason, /content coding/);
    }
  });

  it('that are no text are shown in base64, unless a name of a credential is in them', async () => {
    const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]);
    const { request } = bodiesOf(await rig.recordOf('/open', post(image, { 'content-type': 'image/png' })));
    assert.deepEqual(request, {
      media_type: 'image/png',
      bytes: 8,
      truncated: false,
      base64: image.toString('base64'),
    });
    for (const hidden of [
      Buffer.concat([Buffer.from('{"password":"hunter2'), Buffer.from([0xff]), Buffer.from('"}')]),
      Buffer.from('{"password":"hunter2"}', 'utf16le'),
      Buffer.from('\x81\xa8password\xa7hunter2', 'latin1'),
    ]) {
      const left = bodiesOf(await rig.recordOf('/open', post(hidden))).request;
      assert.match(left.reason, /no text/);
      assert.equal(left.base64 ?? left.text, undefined);
    }
    const named = { 'content-type': 'application/json; charset=utf-16le' };
    const wide = bodiesOf(await rig.recordOf('/open', post(Buffer.from('{"password":"hunter2"}', 'utf16le'), named)));
    assert.equal(wide.request.text, '{"password":"REDACTED"}');
  });

  it('pass by as they would without the recorder', async () => {
    const answered = Promise.withResolvers<void>();
    rig.answers.set('/open/stream', (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // Each piece of the request has arrived before the next one is sent.
      request.on('data', (piece: Buffer) => response.write(`data: ${piece}\n\n`));
      request.on('end', () => answered.promise.then(() => response.end()));
    });
    const socket = connect(rig.port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text) => {
      received += text;
    });
    socket.write(
      'POST /open/stream HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
    );
    for (let piece = 0; piece < 20; piece++) {
      socket.write(`1\r\n${String.fromCharCode(97 + piece)}\r\n`);
      await until(() => received.includes(`data: ${String.fromCharCode(97 + piece)}`));
    }
    socket.write('0\r\n\r\n');
    answered.resolve();
    await once(socket, 'close');
    const { request, response } = bodiesOf(await rig.recordAt('/open/stream'));
    assert.equal(request.text, 'abcdefghijklmnopqrst');
    assert.deepEqual([request.bytes, request.truncated], [20, false]);
    assert.deepEqual([response.bytes, response.truncated], [180, false]);
  });

  it('without an end are shown up to where they broke off, and take no memory', async () => {
    rig.answers.set('/open/endless', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    const stop = new AbortController();
    const { body } = await fetch(`http://127.0.0.1:${rig.port}/open/endless`, { signal: stop.signal });
    let read = 0;
    for await (const piece of body ?? []) {
      read += piece.byteLength;
      if (read > 20_000_000) break;
    }
    stop.abort();
    const record = await rig.recordAt('/open/endless');
    const { response } = bodiesOf(record);
    assert.equal(record.aborted, true);
    assert.equal(response.truncated, true);
    assert.ok(response.bytes >= 20_000_000, String(response.bytes));
    assert.equal(response.text, 'x'.repeat(limit));
  });

  it('are not those of a WebSocket', async () => {
    for (const [at, endpoint] of (['HTTP/1.1', 'HTTP/2'] as const).entries()) {
      const socket = await openWebSocket(endpoint, rig.gateway, `/open/socket?${at}`);
      const message = once(socket, 'message');
      socket.send('not to be seen');
      await message;
      socket.close();
      await once(socket, 'close');
      const record = await rig.recordAt('/open/socket');
      assert.equal(record.explanation.request.query, String(at));
      assert.equal(record.explanation.response, undefined);
      assert.ok(!JSON.stringify(record).includes('not to be seen'));
      await rig.gateway.admin('DELETE', '/traffic');
    }
  });

  it('leave a request with the debug token explained', async () => {
    const token = readFileSync(join(rig.gateway.prefix, 'request_debug_token'), 'utf8').trim();
    const headers = { ...json, 'x-sluicegate-debug-token': token, 'x-sluicegate-explain': '1' };
    const response = await fetch(`${rig.gateway.proxyUrl}/open`, { ...post('{"a":1}'), headers });
    assert.equal(((await response.json()) as { readonly explain: number }).explain, 1);
    // The next one has bodies again.
    assert.equal(bodiesOf(await rig.recordOf('/open', post('{"a":1}'))).request.text, '{"a":1}');
  });

  it('are those of HTTP/2', async () => {
    await using client = await openHttp2(rig.port);
    const body = '{"password":"hunter2","n":1}';
    const answer = await client.request('/open/h2', { headers: { ':method': 'POST', ...json }, body });
    assert.equal(answer.body.toString(), body);
    const { request, response } = bodiesOf(await rig.recordAt('/open/h2'));
    const shown = {
      media_type: 'application/json',
      bytes: 28,
      truncated: false,
      text: '{"password":"REDACTED","n":1}',
    };
    assert.deepEqual([request, response], [shown, shown]);
  });

  it('of gRPC are the messages with their prefixes', async () => {
    await using backend = await startGrpcBackend({
      unary: ({ request }: { request: { text: string } }, done: (error: null, value: object) => void) =>
        done(null, { text: `${request.text}!` }),
    });
    await rig.write('PUT', '/services/grpc', { protocol: 'grpc', host: '127.0.0.1', port: backend.port });
    await rig.write('PUT', '/services/grpc/routes/grpc', { protocols: ['grpc', 'grpcs'], paths: ['/echo.v1.Echo'] });
    using client = grpcClient(rig.port);
    await until(async () => (await unary(client, { text: 'hello' })).error === null);
    const { request, response } = bodiesOf(await rig.recordAt('/echo.v1.Echo/Unary'));
    assert.equal(request.media_type, 'application/grpc');
    assert.deepEqual(Buffer.from(request.base64, 'base64'), Buffer.from('\0\0\0\0\x07\x0a\x05hello', 'latin1'));
    assert.deepEqual(Buffer.from(response.base64, 'base64'), Buffer.from('\0\0\0\0\x08\x0a\x06hello!', 'latin1'));
  });
});
