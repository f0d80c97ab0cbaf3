import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:https';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Random } from '../../../../test/fuzz/random.ts';
import { skipWithoutHttp2Curl } from '../../../../test/support/curl.ts';
import { type Http2Client, openHttp2, readAnswer } from '../../../../test/support/http2-client.ts';
import { until } from '../../../../test/support/until.ts';
import { echo, startServer } from './http2-server.fixture.ts';

const run = promisify(execFile);

test('a request and its answer arrive as they were sent', async () => {
  await using server = await startServer(echo);
  await using client = await openHttp2(server.port, true);
  const body = Buffer.from(Array.from({ length: 1_048_576 }, (_, at) => at % 251));
  const headers = { ':method': 'PUT', 'x-a': ['1', '2'], cookie: ['a=1', 'b=2'], 'content-type': 'application/x' };
  for (const length of [{}, { 'content-length': body.byteLength }]) {
    const answer = await client.request('/services/%C3%BC?a=b&c', { headers: { ...headers, ...length }, body });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-length'], String(body.byteLength));
    assert.equal(answer.headers['x-line'], 'PUT /services/%C3%BC?a=b&c HTTP/2.0');
    assert.equal(answer.headers['connection'], undefined);
    assert.ok(answer.body.equals(body));
    const seen = JSON.parse(String(answer.headers['x-headers']));
    assert.equal(seen.host, `127.0.0.1:${server.port}`);
    assert.deepEqual([seen['x-a'], seen.cookie, seen['content-type']], ['1, 2', 'a=1; b=2', 'application/x']);
  }
});

test('the connection of a request is that of the client', async () => {
  await using server = await startServer((request, response) => {
    const { remoteAddress, remotePort, localAddress, localPort } = request.socket;
    response.end(JSON.stringify([remoteAddress, remotePort, localAddress, localPort, 'encrypted' in request.socket]));
  });
  await using client = await openHttp2(server.port, true);
  const { body } = await client.request('/');
  const own = client.session.socket;
  assert.deepEqual(JSON.parse(body.toString()), ['127.0.0.1', own.localPort, '127.0.0.1', server.port, true]);
});

test('HTTP/1.1 is served on the same port, with and without ALPN', async () => {
  await using server = await startServer(echo);
  for (const ALPNProtocols of [['http/1.1'], undefined]) {
    const request = get({
      port: server.port,
      rejectUnauthorized: false,
      agent: false,
      ...(ALPNProtocols && { ALPNProtocols }),
    });
    const [response] = await once(request, 'response');
    assert.equal(response.headers['x-line'], 'GET / HTTP/1.1');
    await text(response);
  }
});

test('answers without a body have none, with the length that was declared', async () => {
  await using server = await startServer((request, response) => {
    if (request.url === '/204') response.writeHead(204).end();
    else if (request.url === '/304') response.writeHead(304, { etag: '"a"' }).end();
    else response.setHeader('content-length', 5).end('hello');
  });
  await using client = await openHttp2(server.port, true);
  const head = await client.request('/', { headers: { ':method': 'HEAD' } });
  assert.deepEqual([head.status, head.headers['content-length'], head.body.byteLength], [200, '5', 0]);
  const none = await client.request('/204');
  assert.deepEqual([none.status, none.headers['content-length'], none.code], [204, undefined, 0]);
  const unchanged = await client.request('/304');
  assert.deepEqual([unchanged.status, unchanged.headers['etag'], unchanged.code], [304, '"a"', 0]);
});

test('an answer without a length is streamed, and its end is that of the stream', async () => {
  let write: (piece: string) => void = () => {};
  let end: () => void = () => {};
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    write = (piece) => void response.write(piece);
    end = () => void response.end();
    response.flushHeaders();
  });
  await using client = await openHttp2(server.port, true);
  const stream = client.open('/events', {}, true);
  const [headers] = await once(stream, 'response');
  assert.equal(headers['transfer-encoding'], undefined);
  let body = '';
  stream.setEncoding('utf8').on('data', (piece: string) => {
    body += piece;
  });
  for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
    write(piece);
    await until(() => body.endsWith(piece));
  }
  const closed = once(stream, 'close');
  end();
  await closed;
  assert.deepEqual([body, stream.rstCode], ['data: 1\n\ndata: 2\n\n', 0]);
});

test('an answer that breaks off is reset, never shortened', async () => {
  await using server = await startServer((request, response) => {
    if (request.url === '/declared') response.writeHead(200, { 'content-length': 100 });
    response.write('hello', () => response.destroy());
  });
  await using client = await openHttp2(server.port, true);
  for (const path of ['/declared', '/streamed']) {
    const answer = await client.request(path);
    assert.deepEqual([answer.status, answer.code], [200, 2], path);
  }
});

test('a client that cancels is noticed by the routes', async () => {
  await using server = await startServer((request) => request.resume());
  await using client = await openHttp2(server.port, true);
  const open = client.open('/', { ':method': 'POST' });
  open.write('a');
  await until(() => server.seen.length === 1);
  const [seen] = server.seen;
  assert.ok(seen !== undefined);
  open.close(8);
  await until(() => seen.response.destroyed && seen.request.destroyed);
  assert.deepEqual([seen.request.destroyed, seen.request.complete, seen.response.writableEnded], [true, false, false]);
});

test('a body that is not read does not delay the answer, and is stopped', async () => {
  await using server = await startServer((_request, response) => response.writeHead(413).end('too large'));
  await using client = await openHttp2(server.port, true);
  const stream = client.open('/', { ':method': 'POST' });
  stream.write(Buffer.alloc(1_000_000));
  const [headers] = await once(stream, 'response');
  assert.deepEqual([headers[':status'], await text(stream)], [413, 'too large']);
  await until(() => stream.closed);
  assert.equal(stream.rstCode, 0);
  assert.equal((await client.request('/')).status, 413, 'the connection is still usable');
});

test('a client that expects 100 gets it before it sends its body', async () => {
  await using server = await startServer(echo);
  await using client = await openHttp2(server.port, true);
  const stream = client.open('/', { ':method': 'POST', expect: '100-continue' });
  await once(stream, 'continue');
  stream.end('body');
  assert.equal((await readAnswer(stream)).body.toString(), 'body');
});

test('a slow reader gets everything, and the routes write no more than it reads', async () => {
  const size = 4_194_304;
  let waits = 0;
  await using server = await startServer(async (_request, response) => {
    for (let sent = 0; sent < size; sent += 65_536) {
      if (response.write(Buffer.alloc(65_536, sent / 65_536))) continue;
      waits++;
      await once(response, 'drain');
    }
    response.end();
  });
  await using client = await openHttp2(server.port, true);
  const stream = client.open('/', {}, true);
  let read = 0;
  for await (const piece of stream) {
    for (const byte of piece as Buffer) assert.equal(byte, Math.floor(read++ / 65_536) & 255);
  }
  assert.equal(read, size);
  assert.ok(waits > 4, `waited ${waits} times`);
});

test('a server that closes answers what is in flight, in full, and nothing new', async () => {
  const size = 2_097_152;
  let answer: () => void = () => {};
  await using server = await startServer((_request, response) => {
    answer = () => void response.end(Buffer.alloc(size));
  });
  await using client = await openHttp2(server.port, true);
  const stream = client.open('/', {}, true).pause();
  await until(() => server.seen.length === 1);
  const goaway = once(client.session, 'goaway');
  const closed = new Promise((resolve) => server.server.close(resolve));
  await goaway;
  answer();
  // The answer is written, and most of it waits for the client.
  await until(() => server.seen[0]?.response.writableEnded === true);
  server.server.closeIdleConnections();
  const { status, body, code } = await readAnswer(stream.resume());
  assert.deepEqual([status, body.byteLength, code], [200, size, 0]);
  await closed;
});

test('an exception in a route does not end the connection of others', async () => {
  await using server = await startServer((request, response) => {
    if (request.url === '/bad') response.destroy(new Error('of the route'));
    else setImmediate(() => response.end('ok'));
  });
  await using client = await openHttp2(server.port, true);
  const [bad, good] = await Promise.all([client.request('/bad'), client.request('/good')]);
  assert.deepEqual([bad.code, good.status], [2, 200]);
});

/** Sends a body of random size in random pieces. Null: the client has cancelled. */
async function randomExchange(client: Http2Client, random: Random): Promise<boolean | null> {
  const size = random.int(random.pick([1, 1_000, 300_000]));
  const body = Buffer.from(Array.from({ length: size }, () => random.int(256)));
  const length = random.once(2) ? { 'content-length': size } : {};
  const stream = client.open('/', { ':method': 'POST', ...length });
  const answer = readAnswer(stream);
  for (let at = 0; at < size; ) {
    const end = at + 1 + random.int(20_000);
    stream.write(body.subarray(at, end));
    at = end;
    if (random.once(40)) {
      stream.close(8);
      return null;
    }
    if (random.once(3)) await new Promise((resolve) => setImmediate(resolve));
  }
  stream.end();
  const { status, body: echoed } = await answer;
  return status === 200 && echoed.equals(body);
}

test('random bodies arrive whole, next to others that are cancelled', async (context) => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 30));
  context.diagnostic(`SEED=${seed}`);
  const random = new Random(seed);
  await using server = await startServer(echo);
  await using client = await openHttp2(server.port, true);
  for (let round = 0; round < 12; round++) {
    const results = await Promise.all(Array.from({ length: 8 }, () => randomExchange(client, random)));
    assert.ok(!results.includes(false), `SEED=${seed}`);
  }
  await until(() => server.seen.every(({ response }) => response.destroyed || response.writableFinished));
});

test('curl speaks with it', { skip: skipWithoutHttp2Curl() }, async () => {
  await using server = await startServer(echo);
  const url = `https://127.0.0.1:${server.port}/services`;
  const { stdout } = await run('curl', ['-sk', '--http2', '-d', 'a=b', '-w', ' %{http_version} %{http_code}', url]);
  assert.equal(stdout, 'a=b 2 200');
});

test('many requests at once are all answered', async () => {
  await using server = await startServer(echo);
  await using client = await openHttp2(server.port, true);
  const oneAfterAnother = async (): Promise<void> => {
    for (let at = 0; at < 50; at++) assert.equal((await client.request(`/${at}`)).status, 200);
  };
  await Promise.all(Array.from({ length: 20 }, oneAfterAnother));
  assert.equal(server.seen.length, 1_000);
});
