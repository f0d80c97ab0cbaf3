import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import { decodeBase64, FrameEncoder } from './base64.ts';
import { FrameCollector, frame } from './frames.ts';
import grpcWeb from './index.ts';
import { Transcoder } from './transcoder.ts';

const folder = await mkdtemp(join(tmpdir(), 'sluicegate-proto-'));
after(() => rm(folder, { recursive: true }));
const proto = join(folder, 'hello.proto');
await writeFile(
  proto,
  `syntax = "proto3"; package hello.v1; import "words.proto"; import "google/protobuf/empty.proto";
  service Greeter { rpc Say (Words) returns (Words); rpc Reset (google.protobuf.Empty) returns (google.protobuf.Empty); }`,
);
await writeFile(
  join(folder, 'words.proto'),
  `syntax = "proto3"; package hello.v1; enum Tone { SOFT = 0; LOUD = 1; }
  message Words { string first_word = 1; int64 count = 2; bytes raw = 3; Tone tone = 4; repeated string more = 5; }`,
);

const ok = { headers: { 'Content-Type': 'application/grpc' }, trailers: { 'grpc-status': '0', 'grpc-message': '' } };
const trailerText = 'grpc-status:0\r\ngrpc-message:\r\n';

test('forwards a binary call as gRPC, and sends its trailers as the last frame', async () => {
  const { upstream, response } = await testPlugin(grpcWeb).request({
    method: 'POST',
    path: '/hello.v1.Greeter/Say',
    headers: { 'Content-Type': 'application/grpc-web+proto' },
    backend: { ...ok, body: [frame(0, Buffer.from('abc'))] },
  });
  assert.equal(upstream?.header('content-type'), 'application/grpc');
  assert.equal(upstream?.path, '/hello.v1.Greeter/Say');
  assert.equal(response.header('content-type'), 'application/grpc-web+proto');
  assert.equal(response.header('access-control-allow-origin'), '*');
  assert.deepEqual(
    response.bytes,
    Buffer.concat([frame(0, Buffer.from('abc')), frame(0x80, Buffer.from(trailerText))]),
  );
});

test('decodes a text request, and encodes each message of the answer separately', async () => {
  const message = frame(0, Buffer.from('abc'));
  const { upstream, response } = await testPlugin(grpcWeb).request({
    method: 'POST',
    path: '/hello.v1.Greeter/Say',
    headers: { 'Content-Type': 'application/grpc-web-text; charset=utf-8' },
    body: message.toString('base64'),
    backend: { ...ok, body: [message.subarray(0, 2), message.subarray(2, 7), message.subarray(7)] },
  });
  assert.equal(upstream?.body, message.toString());
  const text = response.body;
  assert.ok(text.startsWith(message.toString('base64')), text);
  assert.deepEqual(
    decodeBase64(response.bytes),
    Buffer.concat([message, frame(0x80, Buffer.from(trailerText, 'latin1'))]),
  );
});

test('keeps the status of a failed call in the head, where scripts can read it', async () => {
  const { response } = await testPlugin(grpcWeb).request({
    method: 'POST',
    path: '/hello.v1.Greeter/Say',
    headers: { 'Content-Type': 'application/grpc-web' },
    backend: { headers: { 'Content-Type': 'application/grpc', 'grpc-status': '5', 'grpc-message': 'none' } },
  });
  assert.equal(response.header('grpc-status'), '5');
  assert.equal(response.header('access-control-expose-headers'), 'grpc-status,grpc-message');
  assert.equal(response.bytes.byteLength, 0);
});

test('leaves an answer unchanged that is not gRPC', async () => {
  const { response } = await testPlugin(grpcWeb).request({
    method: 'POST',
    headers: { 'Content-Type': 'application/grpc-web' },
    backend: { status: 503, headers: { 'Content-Type': 'text/html' }, body: 'down' },
  });
  assert.equal(response.body, 'down');
  assert.equal(response.header('content-type'), 'text/html');
});

test('answers preflights, and leaves other content types unchanged', async () => {
  const plugin = testPlugin(grpcWeb, { config: { allow_origin_header: 'https://a.example' } });
  const preflight = await plugin.request({ method: 'OPTIONS' });
  assert.equal(preflight.upstream, null);
  assert.equal(preflight.response.status, 200);
  assert.equal(preflight.response.body, 'OK');
  assert.equal(preflight.response.header('access-control-allow-origin'), 'https://a.example');
  assert.equal(preflight.response.header('access-control-allow-methods'), 'POST');
  assert.equal(preflight.response.header('access-control-allow-headers'), 'content-type,x-grpc-web,x-user-agent');
  const strange = await plugin.request({ method: 'POST', headers: { 'Content-Type': 'text/plain' } });
  assert.equal(strange.response.status, 400);
  const plain = await plugin.request({ method: 'POST', headers: { 'Content-Type': 'application/grpc' } });
  assert.ok(plain.upstream !== null);
});

test('converts JSON to the message of the method and back, in lines', async () => {
  const codec = (await Transcoder.load(proto)).method('/api/hello.v1.Greeter/Say');
  assert.ok(codec !== null);
  const answer = codec.encode(
    '{"first_word": "hi", "count": "9007199254740993", "raw": "AP8=", "tone": "LOUD", "more": ["x"]}',
  );
  const { upstream, response } = await testPlugin(grpcWeb, { config: { proto } }).request({
    method: 'POST',
    path: '/hello.v1.Greeter/Say',
    headers: { 'Content-Type': 'application/json' },
    body: '{"first_word": "hi"}',
    backend: { ...ok, body: [frame(0, answer), frame(0, codec.encode('{"first_word": "two"}'))] },
  });
  assert.equal(upstream?.body, frame(0, codec.encode('{"first_word": "hi"}')).toString());
  assert.equal(response.header('content-type'), 'application/json');
  const lines = response.body.split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines, [
    { first_word: 'hi', count: '9007199254740993', raw: 'AP8=', tone: 'LOUD', more: ['x'] },
    { first_word: 'two' },
  ]);
});

test('refuses JSON that cannot be converted, and logs an invalid proto file', async () => {
  const request = { method: 'POST', path: '/hello.v1.Greeter/Say', headers: { 'Content-Type': 'application/json' } };
  const without = await testPlugin(grpcWeb).request({ ...request, body: '{}' });
  assert.equal(without.response.status, 400);
  assert.match(without.response.body, /require a \.proto file/);
  const plugin = testPlugin(grpcWeb, { config: { proto } });
  assert.equal((await plugin.request({ ...request, body: '{"first_word"' })).response.status, 400);
  assert.equal((await plugin.request({ ...request, body: '[]' })).response.status, 400);
  assert.equal((await plugin.request({ ...request, path: '/hello.v1.Greeter/No', body: '{}' })).response.status, 400);
  assert.ok((await plugin.request({ ...request, path: '/hello.v1.Greeter/Reset', body: '{}' })).upstream !== null);
  const broken = testPlugin(grpcWeb, { config: { proto: join(folder, 'missing.proto') } });
  assert.equal((await broken.request({ ...request, body: '{}' })).response.status, 400);
  assert.equal(broken.logLines.length, 1);
});

test('finds frames wherever they are split', () => {
  const whole = Buffer.concat([frame(0, Buffer.from('abcd')), frame(0, Buffer.alloc(0)), frame(1, Buffer.from('z'))]);
  for (let size = 1; size <= whole.byteLength; size++) {
    const frames = new FrameCollector(100);
    const encoder = new FrameEncoder();
    const found: string[] = [];
    let text = '';
    for (let at = 0; at < whole.byteLength; at += size) {
      const piece = whole.subarray(at, at + size);
      found.push(...frames.push(piece).map(({ flags, payload }) => `${flags}${payload}`));
      text += Buffer.from(encoder.push(piece) ?? []).toString();
    }
    assert.deepEqual(found, ['0abcd', '0', '1z']);
    assert.ok(frames.atRest && encoder.atRest);
    assert.deepEqual(decodeBase64(Buffer.from(text)), whole);
  }
  assert.throws(() => new FrameCollector(3).push(whole), /larger/);
  assert.equal(decodeBase64(Buffer.from('a=bc')), null);
  assert.equal(decodeBase64(Buffer.from('abc')), null);
});
