import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { decodeMessage, echoProto, encodeMessage, startGrpcBackend } from '../../../test/support/grpc.ts';
import { openHttp2 } from '../../../test/support/http2-client.ts';
import { type Http2Rig, startHttp2Rig } from '../../../test/support/http2-rig.ts';
import { decodeBase64 } from './base64.ts';
import { FrameCollector, frame } from './frames.ts';

// biome-ignore lint/suspicious/noExplicitAny: calls of all kinds, and their callbacks
type Call = any;

/** Streams wait for this before each message except the first. */
let next = Promise.withResolvers<void>();

const methods = {
  unary({ request }: Call, done: Call): void {
    if (request.text === 'fail') done({ code: status.NOT_FOUND, details: 'no such thing' });
    else done(null, { text: `${request.text}!` });
  },
  async count(call: Call): Promise<void> {
    for (let at = 1; at <= call.request.count; at++) {
      if (at > 1) await next.promise;
      call.write({ count: at, text: 'x'.repeat(at) });
    }
    call.end();
  },
};

async function startWebRig(port: number, config: object = {}, route: object = {}): Promise<Http2Rig> {
  const rig = await startHttp2Rig({
    service: { url: null, protocol: 'grpc', host: '127.0.0.1', port },
    route: { protocols: ['http', 'https'], ...route },
  });
  await rig.write('POST', '/routes/all/plugins', { name: 'grpc-web', config });
  return rig;
}

function post(rig: Http2Rig, path: string, type: string, body: Uint8Array | string): Promise<Response> {
  return fetch(rig.gateway.proxyUrl + path, {
    method: 'POST',
    headers: { 'content-type': type },
    body: Buffer.from(body),
  });
}

function framesOf(bytes: Uint8Array): { flags: number; payload: Buffer }[] {
  return new FrameCollector(1_000_000).push(bytes);
}

test('serves browser calls over HTTP/1.1, in binary and in text', async () => {
  await using backend = await startGrpcBackend(methods);
  await using rig = await startWebRig(backend.port);
  const request = frame(0, encodeMessage({ text: 'hello' }));
  for (const text of [false, true]) {
    const type = `application/grpc-web${text ? '-text' : ''}`;
    const answer = await post(rig, '/echo.v1.Echo/Unary', type, text ? request.toString('base64') : request);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), type);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    const bytes = Buffer.from(await answer.arrayBuffer());
    const [message, trailers] = framesOf(text ? (decodeBase64(bytes) ?? Buffer.alloc(0)) : bytes);
    assert.equal(decodeMessage(message?.payload ?? Buffer.alloc(0)).text, 'hello!');
    assert.equal(trailers?.flags, 0x80);
    assert.match(String(trailers?.payload), /^grpc-status:0\r\n/);
  }
});

test('delivers each message of a stream at once, as text that can be decoded', async () => {
  await using backend = await startGrpcBackend(methods);
  await using rig = await startWebRig(backend.port);
  const request = frame(0, encodeMessage({ count: 3 }));
  const answer = await post(rig, '/echo.v1.Echo/Count', 'application/grpc-web-text', request.toString('base64'));
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  let frames: { flags: number; payload: Buffer }[] = [];
  for (let wanted = 1; wanted <= 3; wanted++) {
    while (frames.length < wanted) {
      const { value, done } = await reader.read();
      assert.ok(!done);
      text += Buffer.from(value).toString();
      frames = framesOf(decodeBase64(Buffer.from(text.slice(0, text.length - (text.length % 4)))) ?? Buffer.alloc(0));
    }
    assert.equal(decodeMessage((frames[wanted - 1] as { payload: Buffer }).payload).count, wanted);
    const go = next;
    next = Promise.withResolvers();
    go.resolve();
  }
  while (!(await reader.read()).done);
});

test('reports errors of calls and of the connection to the backend', async () => {
  const backend = await startGrpcBackend(methods);
  await using rig = await startWebRig(backend.port);
  const failed = await post(
    rig,
    '/echo.v1.Echo/Unary',
    'application/grpc-web',
    frame(0, encodeMessage({ text: 'fail' })),
  );
  assert.equal(failed.status, 200);
  const bytes = Buffer.from(await failed.arrayBuffer());
  const said = failed.headers.get('grpc-status') ?? String(framesOf(bytes).at(-1)?.payload);
  assert.match(said, /5/);
  await backend[Symbol.asyncDispose]();
  const gone = await post(rig, '/echo.v1.Echo/Unary', 'application/grpc-web', frame(0, encodeMessage({ text: 'x' })));
  assert.equal(gone.status, 502);
  assert.equal(gone.headers.get('access-control-allow-origin'), '*');
});

test('serves JSON over HTTP/1.1, with the path after the stripped part', async () => {
  await using backend = await startGrpcBackend(methods);
  await using rig = await startWebRig(backend.port, {}, { paths: ['/api'], strip_path: true });
  const proto = join(rig.gateway.prefix, 'echo.proto');
  await writeFile(proto, echoProto);
  const plugins = (await rig.gateway.admin('GET', '/plugins')).body['data'] as { readonly id: string }[];
  await rig.write('PATCH', `/plugins/${plugins[0]?.id}`, { config: { proto, pass_stripped_path: true } });
  const answer = await post(rig, '/api/echo.v1.Echo/Unary', 'application/json', '{"text":"json"}');
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.deepEqual(await answer.json(), { text: 'json!' });
});

test('sends no additional trailers over HTTP/2', async () => {
  await using backend = await startGrpcBackend(methods);
  await using rig = await startWebRig(backend.port);
  await using client = await openHttp2(rig.tlsPort, true);
  const answer = await client.request('/echo.v1.Echo/Unary', {
    headers: { ':method': 'POST', 'content-type': 'application/grpc-web+proto', te: 'trailers' },
    body: frame(0, encodeMessage({ text: 'two' })),
  });
  assert.equal(answer.headers['content-type'], 'application/grpc-web+proto');
  assert.deepEqual({ ...answer.trailers }, {});
  assert.equal(decodeMessage(framesOf(answer.body)[0]?.payload ?? Buffer.alloc(0)).text, 'two!');
});
