import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { Metadata, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { type EchoMessage, encodeMessage, grpcClient, readCall, startGrpcBackend, unary } from '../support/grpc.ts';
import { openHttp2 } from '../support/http2-client.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { selfSigned } from '../support/self-signed.ts';
import { until } from '../support/until.ts';

type Call = ServerUnaryCall<EchoMessage, EchoMessage>;
type Done = sendUnaryData<Partial<EchoMessage>>;
// biome-ignore lint/suspicious/noExplicitAny: streams of both directions
type Stream = any;

const methods = {
  unary({ request }: Call, done: Done): void {
    done(null, { text: `${request.text}!`, count: request.count + 1 });
  },
  collect(call: Stream, done: Done): void {
    const texts: string[] = [];
    call.on('data', (each: EchoMessage) => texts.push(each.text));
    call.on('end', () => done(null, { text: texts.join(' '), count: texts.length }));
  },
  count(call: Stream): void {
    for (let at = 1; at <= call.request.count; at++) call.write({ count: at });
    call.end();
  },
  talk(call: Stream): void {
    call.on('data', (each: EchoMessage) => call.write({ text: each.text.toUpperCase() }));
    call.on('end', () => call.end());
  },
};

const unlimited = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };

let rig: Http2Rig;
before(async () => {
  rig = await startHttp2Rig({ service: { url: null, protocol: 'grpc', host: '127.0.0.1', port: 1, path: null } });
});
after(() => rig?.close());

/** Replaces the service and the route, and with it the plugins of the case before. */
async function useBackend(port: number, service: object = {}, route: object = {}): Promise<void> {
  await rig.gateway.admin('DELETE', '/routes/all');
  await rig.write('PUT', '/services/backend', { protocol: 'grpc', host: '127.0.0.1', port, retries: 0, ...service });
  const matching = { protocols: ['grpc', 'grpcs'], paths: ['/'], strip_path: false };
  await rig.write('PUT', '/services/backend/routes/all', { ...matching, ...route });
}

test('all four kinds of calls are forwarded', async () => {
  await using backend = await startGrpcBackend(methods);
  await useBackend(backend.port);
  using client = grpcClient(rig.port);
  const one = await unary(client, { text: 'hello', count: 41 });
  assert.deepEqual(one.error, null);
  assert.equal(one.value?.text, 'hello!');
  assert.equal(one.value?.count, 42);

  const collected = await new Promise<EchoMessage>((resolve, reject) => {
    const call = client.collect((error: Error | null, value: EchoMessage) => (error ? reject(error) : resolve(value)));
    for (const text of ['a', 'b', 'c']) call.write({ text });
    call.end();
  });
  assert.equal(collected.text, 'a b c');

  const counted = await readCall(client.count({ count: 50 }));
  assert.equal(counted.code, status.OK);
  assert.deepEqual(
    counted.messages.map(({ count }) => count),
    Array.from({ length: 50 }, (_, at) => at + 1),
  );

  // Each side waits for the other: the gateway must not buffer anything.
  const talk = client.talk();
  for (const text of ['one', 'two']) {
    talk.write({ text });
    const [answer] = (await once(talk, 'data')) as [EchoMessage];
    assert.equal(answer.text, text.toUpperCase());
  }
  talk.end();
  const [ended] = (await once(talk, 'status')) as [{ readonly code: number }];
  assert.equal(ended.code, status.OK);
});

test('metadata is forwarded both ways, including -bin values, and the backend sees the consumer', async () => {
  let seen: Metadata | null = null;
  const hosts: string[] = [];
  await using backend = await startGrpcBackend({
    ...methods,
    unary(call: Call, done: Done): void {
      seen = call.metadata;
      hosts.push(call.getHost());
      const head = new Metadata();
      head.set('x-head', 'first');
      call.sendMetadata(head);
      const tail = new Metadata();
      tail.set('x-tail-bin', Buffer.from([0, 255, 10]));
      done(null, { text: 'ok' }, tail);
    },
  });
  await useBackend(backend.port);
  using client = grpcClient(rig.port);
  const metadata = new Metadata();
  metadata.set('x-key', 'value');
  metadata.set('x-raw-bin', Buffer.from([1, 2, 0, 254]));
  const call = client.unary({ text: 'x' }, metadata, () => {});
  const [[head], [end]] = (await Promise.all([once(call, 'metadata'), once(call, 'status')])) as [
    [Metadata],
    [{ readonly code: number; readonly metadata: Metadata }],
  ];
  assert.equal(end.code, status.OK);
  assert.deepEqual(head.get('x-head'), ['first']);
  assert.match(String(head.get('via')[0]), /^2 kong\//);
  assert.deepEqual(end.metadata.get('x-tail-bin'), [Buffer.from([0, 255, 10])]);
  const got = seen as unknown as Metadata;
  assert.deepEqual(got.get('x-key'), ['value']);
  assert.deepEqual(got.get('x-raw-bin'), [Buffer.from([1, 2, 0, 254])]);
  assert.match(String(got.get('via')[0]), /^2 kong\//);
  assert.deepEqual(got.get('x-forwarded-for'), ['127.0.0.1']);
  await rig.write('PATCH', '/routes/all', { preserve_host: true });
  assert.equal((await unary(client, { text: 'x' })).error, null);
  assert.deepEqual(hosts, [`127.0.0.1:${backend.port}`, `127.0.0.1:${rig.port}`]);
});

test('an error of the backend reaches the client with code, text and metadata', async () => {
  await using backend = await startGrpcBackend({
    ...methods,
    unary(_: Call, done: Done): void {
      const metadata = new Metadata();
      metadata.set('x-why', 'quota');
      done({ code: status.RESOURCE_EXHAUSTED, details: 'zu viel: 100% ü', metadata });
    },
  });
  await useBackend(backend.port);
  using client = grpcClient(rig.port);
  const { error } = await unary(client, { text: 'x' });
  assert.equal(error?.code, status.RESOURCE_EXHAUSTED);
  assert.equal(error?.details, 'zu viel: 100% ü');
  assert.deepEqual((error as unknown as { metadata: Metadata }).metadata.get('x-why'), ['quota']);
});

test('a deadline ends the call at the gateway, and the remaining time is forwarded', async () => {
  let left = '';
  const cancelled = Promise.withResolvers<void>();
  await using backend = await startGrpcBackend({
    ...methods,
    unary(call: Call): void {
      left = String(call.metadata.get('grpc-timeout')[0] ?? call.getDeadline());
      call.on('cancelled', () => cancelled.resolve());
    },
  });
  await useBackend(backend.port);
  await using client = await openHttp2(rig.port);
  const answer = await client.request('/echo.v1.Echo/Unary', {
    headers: { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers', 'grpc-timeout': '200m' },
    body: frame({ text: 'x' }),
  });
  assert.equal(answer.headers['grpc-status'] ?? answer.trailers['grpc-status'], '4');
  assert.ok(left !== '');
  await cancelled.promise;
});

test('a deadline that expires during a stream ends it with DEADLINE_EXCEEDED', async () => {
  await using backend = await startGrpcBackend({
    ...methods,
    count(call: Stream): void {
      call.write({ count: 1 });
    },
  });
  await useBackend(backend.port);
  await using client = await openHttp2(rig.port);
  const answer = await client.request('/echo.v1.Echo/Count', {
    headers: { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers', 'grpc-timeout': '300m' },
    body: frame({ count: 5 }),
  });
  assert.equal(answer.code, 0);
  assert.equal(answer.trailers['grpc-status'], '4');
  assert.equal(answer.body.byteLength, frame({ count: 1 }).byteLength);
});

test('a cancelled call is cancelled at the backend', async () => {
  const begun = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  await using backend = await startGrpcBackend({
    ...methods,
    talk(call: Stream): void {
      call.on('cancelled', () => cancelled.resolve());
      call.on('data', () => begun.resolve());
    },
  });
  await useBackend(backend.port);
  using client = grpcClient(rig.port);
  const call = client.talk();
  const ended = readCall(call);
  call.write({ text: 'x' });
  await begun.promise;
  call.cancel();
  assert.equal((await ended).code, status.CANCELLED);
  await cancelled.promise;
});

test('large messages are forwarded both ways, and many calls share one session', async () => {
  const sessions = new Set<string>();
  await using backend = await startGrpcBackend(
    {
      ...methods,
      unary(call: Call, done: Done): void {
        sessions.add(call.getPeer());
        done(null, { data: call.request.data });
      },
    },
    null,
    unlimited,
  );
  await useBackend(backend.port);
  using client = grpcClient(rig.port, unlimited);
  const data = Buffer.alloc(6_000_000, 'abc');
  const { error, value } = await unary(client, { data });
  assert.equal(error, null);
  assert.ok(value?.data.equals(data));
  const many = await Promise.all(Array.from({ length: 60 }, () => unary(client, { data: Buffer.alloc(50_000, 7) })));
  assert.ok(many.every((each) => each.error === null && each.value?.data.byteLength === 50_000));
  assert.equal(sessions.size, 1);
});

test('a client that does not read stops the backend', async () => {
  let written = 0;
  await using backend = await startGrpcBackend({
    ...methods,
    count(call: Stream): void {
      const data = Buffer.alloc(65_536);
      const more = (): void => {
        while (written < 3_000) {
          written++;
          if (!call.write({ data })) {
            call.once('drain', more);
            return;
          }
        }
        call.end();
      };
      more();
    },
  });
  await useBackend(backend.port);
  using client = grpcClient(rig.port);
  const call = client.count({ count: 1 });
  call.on('error', () => {});
  await once(call, 'metadata');
  let before = -1;
  await until(() => {
    const still = before === written;
    before = written;
    return still;
  });
  assert.ok(written < 300, `${written} messages of 64 KiB were read from the backend without a reader`);
  let read = 0;
  call.on('data', () => read++);
  const [end] = (await once(call, 'status')) as [{ readonly code: number }];
  assert.equal(end.code, status.OK);
  assert.equal(read, 3_000);
});

test('grpcs: the certificate of the backend is verified', async () => {
  const pair = selfSigned('localhost');
  await using backend = await startGrpcBackend(methods, pair);
  await useBackend(backend.port, { protocol: 'grpcs', host: 'localhost' });
  using client = grpcClient(rig.port);
  assert.equal((await unary(client, { text: 'tls' })).value?.text, 'tls!');
  await rig.write('PATCH', '/services/backend', { tls_verify: true });
  assert.equal((await unary(client, { text: 'tls' })).error?.code, status.INTERNAL);
  const authority = await rig.write('POST', '/ca_certificates', { cert: pair.cert });
  await rig.write('PATCH', '/services/backend', { ca_certificates: [authority['id']] });
  assert.equal((await unary(client, { text: 'tls' })).value?.text, 'tls!');
});

test('a restarted backend is used again, and no call fails', async () => {
  await using first = await startGrpcBackend(methods);
  await useBackend(first.port);
  using client = grpcClient(rig.port);
  assert.equal((await unary(client, { text: 'a' })).error, null);
  // The backend sends GOAWAY, then closes the connection.
  await new Promise<void>((resolve) => first.server.tryShutdown(() => resolve()));
  assert.equal((await unary(client, { text: 'b' })).error?.code, status.INTERNAL);
  await using second = await startGrpcBackend(methods, null, {}, first.port);
  assert.equal(second.port, first.port);
  assert.equal((await unary(client, { text: 'c' })).value?.text, 'c!');
});

test('refusals of the gateway and of plugins reach the client as gRPC status', async () => {
  await using backend = await startGrpcBackend(methods);
  await useBackend(backend.port, {}, { paths: ['/echo.v1.Echo/'] });
  using client = grpcClient(rig.port);
  const plugin = await rig.write('POST', '/routes/all/plugins', { name: 'key-auth' });
  const refused = await unary(client, { text: 'x' });
  assert.equal(refused.error?.code, status.UNAUTHENTICATED);
  await rig.write('PUT', '/consumers/ann', {});
  await rig.write('POST', '/consumers/ann/key-auth', { key: 'open' });
  const metadata = new Metadata();
  metadata.set('apikey', 'open');
  assert.equal((await unary(client, { text: 'x' }, metadata)).value?.text, 'x!');
  await rig.write('PATCH', `/plugins/${plugin['id']}`, { enabled: false });
  await rig.write('POST', '/routes/all/plugins', {
    name: 'request-termination',
    config: { status_code: 403, message: 'not now' },
  });
  const denied = await unary(client, { text: 'x' });
  assert.equal(denied.error?.code, status.PERMISSION_DENIED);
  assert.equal(denied.error?.details, 'not now');

  await using raw = await openHttp2(rig.port);
  const lost = await raw.request('/nowhere', {
    headers: { ':method': 'POST', 'content-type': 'application/grpc' },
    body: '',
  });
  assert.equal(lost.status, 404);
  assert.equal(lost.headers['content-type'], 'application/grpc');
  assert.equal(lost.headers['grpc-status'], '5');
  assert.equal(lost.headers['grpc-message'], 'NotFound');
  assert.equal(lost.body.byteLength, 0);
});

test('calls require HTTP/2, a gRPC content type, and TLS where the route requires it', async () => {
  await using backend = await startGrpcBackend(methods);
  await useBackend(backend.port);
  const old = await fetch(rig.gateway.proxyUrl, { method: 'POST', headers: { 'content-type': 'application/grpc' } });
  assert.equal(old.status, 426);
  assert.equal(old.headers.get('upgrade'), 'HTTP/2');
  await using client = await openHttp2(rig.port);
  assert.equal((await client.request('/', { headers: { ':method': 'GET' } })).status, 415);
  await rig.write('PATCH', '/routes/all', { protocols: ['grpcs'] });
  const plain = await client.request('/echo.v1.Echo/Unary', {
    headers: { ':method': 'POST', 'content-type': 'application/grpc' },
    body: frame({ text: 'x' }),
  });
  assert.equal(plain.status, 200);
  assert.equal(plain.headers['grpc-status'], '1');
  assert.equal(plain.headers['grpc-message'], 'gRPC request matched gRPCs route');
  await using secure = await openHttp2(rig.tlsPort, true);
  const served = await secure.request('/echo.v1.Echo/Unary', {
    headers: { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' },
    body: frame({ text: 'x' }),
  });
  assert.equal(served.trailers['grpc-status'], '0');
});

function frame(message: Partial<EchoMessage>): Buffer {
  const bytes = encodeMessage(message);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.byteLength, 1);
  return Buffer.concat([head, bytes]);
}
