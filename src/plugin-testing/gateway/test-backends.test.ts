import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestGateway, NoAnswerError } from '../index.ts';

/** The example of RFC 6455 1.3. */
const handshake =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

test('timeouts of backends end on the clock', async () => {
  await using gateway = await createTestGateway({
    config: {
      services: [
        { name: 's', url: 'http://slow.test', read_timeout: 5_000, retries: 0, routes: [{ name: 'r', paths: ['/'] }] },
      ],
    },
  });
  gateway.backend.on('slow.test', () => 'hang');
  const { answer } = gateway.start();
  await gateway.clock.advance(4_999);
  const early = await Promise.race([answer, Promise.resolve(null)]);
  assert.equal(early, null);
  await gateway.clock.advance(1);
  assert.equal((await answer).status, 504);
  gateway.backend.connecting('slow.test', 'ignore');
  gateway.backend.closeIdle();
  assert.equal((await gateway.clock.until(gateway.request())).status, 504);
  gateway.backend.connecting('slow.test', 'refuse');
  assert.equal((await gateway.request()).status, 502);
});

test('backends fail in every way, and a retry follows where it may', async () => {
  let failures = 0;
  await using gateway = await createTestGateway();
  gateway.backend.onRequest = () => (failures-- > 0 ? 'reset' : { body: 'well' });
  failures = 2;
  assert.equal((await gateway.request()).body, 'well');
  assert.equal(gateway.backend.requests.length, 3);
  failures = 1;
  assert.equal((await gateway.request({ method: 'POST', body: 'x' })).status, 502, 'no retry after a reset of a POST');
  gateway.backend.onRequest = () => 'close';
  assert.equal((await gateway.request()).status, 502);
  gateway.backend.onRequest = () => ({ raw: 'no HTTP at all\r\n\r\n' });
  assert.equal((await gateway.request()).status, 502);
  gateway.backend.onRequest = () => ({ raw: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf' });
  const half = await gateway.request();
  assert.deepEqual([half.status, half.body, half.complete], [200, 'half', false]);
  gateway.backend.onRequest = () => ({
    body: (function* () {
      yield 'first ';
      throw new Error('the backend breaks down');
    })(),
  });
  const broken = await gateway.request({ http2: true });
  assert.deepEqual([broken.status, broken.complete], [200, false]);
});

test('limits are those of a gateway: bodies, heads, and time for them', async () => {
  await using gateway = await createTestGateway({
    settings: {
      nginx_http_client_max_body_size: '1k',
      nginx_http_client_body_timeout: '5s',
      nginx_http_client_header_timeout: '3s',
    },
  });
  assert.equal((await gateway.request({ method: 'POST', body: 'x'.repeat(1_025) })).status, 413);
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x-${at}`, '1']));
  assert.equal((await gateway.request({ headers: many })).status, 400);
  const slow = gateway.start({ method: 'POST', headers: { 'content-length': '10' }, streamed: true });
  await gateway.clock.advance(5_000);
  assert.equal((await slow.answer).status, 408);
  const raw = gateway.connect();
  raw.write('GET / HTTP/1.1\r\nHost:');
  await gateway.clock.advance(3_000);
  assert.match(await raw.closed(), /^HTTP\/1\.1 408 /);
});

test('upstreams balance over targets that are functions', async () => {
  await using gateway = await createTestGateway({
    config: {
      upstreams: [{ name: 'pool', targets: [{ target: 'one.test:80' }, { target: 'two.test:81' }] }],
      services: [{ name: 's', host: 'pool', routes: [{ name: 'r', paths: ['/'] }] }],
    },
  });
  for (let at = 0; at < 4; at++) assert.equal((await gateway.request()).status, 200);
  const addresses = gateway.backend.requests.map(({ address }) => address);
  assert.deepEqual(addresses.toSorted(), ['one.test:80', 'one.test:80', 'two.test:81', 'two.test:81']);
});

test('gRPC: a backend over HTTP/2 and its trailers', async () => {
  await using gateway = await createTestGateway({
    config: {
      services: [
        { name: 's', url: 'grpc://grpc.test:50051', routes: [{ name: 'r', paths: ['/'], protocols: ['grpc'] }] },
      ],
    },
    onRequest: () => ({
      headers: { 'content-type': 'application/grpc' },
      body: [Buffer.from([0, 0, 0, 0, 0])],
      trailers: { 'grpc-status': '0' },
    }),
  });
  const answer = await gateway.request({
    method: 'POST',
    path: '/a.B/C',
    http2: true,
    headers: { 'content-type': 'application/grpc', te: 'trailers' },
    body: Buffer.from([0, 0, 0, 0, 0]),
  });
  assert.deepEqual([answer.status, answer.trailers], [200, { 'grpc-status': '0' }]);
  assert.equal(gateway.backend.requests[0]?.httpVersion, '2');
});

test('https, upgrades and bytes of your own', async () => {
  await using gateway = await createTestGateway();
  const secure = await gateway.request({ scheme: 'https' });
  assert.equal((secure.json() as { headers: Record<string, string[]> }).headers['x-forwarded-proto']?.[0], 'https');
  gateway.backend.onRequest = (request) =>
    request.header('upgrade') === null
      ? {}
      : { status: 101, headers: { upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-accept': accept } };
  const raw = gateway.connect();
  raw.write(`GET / HTTP/1.1\r\nHost: a\r\n${handshake}\r\n`);
  await raw.until('101 ');
  raw.write('ping');
  assert.match(await raw.until('ping'), /\r\n\r\nping$/);
  raw.end();
  await raw.closed();
});

test('the request of a client that disconnects is over, and recorded', async () => {
  await using gateway = await createTestGateway({ onRequest: () => 'hang' });
  for (const http2 of [false, true]) {
    const running = gateway.start({ http2 });
    await gateway.clock.settle();
    running.abort();
    await assert.rejects(running.answer, NoAnswerError);
    await gateway.clock.settle();
  }
  const statuses = gateway.records.map(statusOf);
  assert.deepEqual(statuses, [499, 499]);
});

function statusOf(record: Readonly<Record<string, unknown>> | null): number | undefined {
  return (record?.['response'] as { readonly status: number } | undefined)?.status;
}
