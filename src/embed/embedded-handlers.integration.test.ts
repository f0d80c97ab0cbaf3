import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { startBackend } from '../../test/support/backend.ts';
import { until } from '../../test/support/until.ts';
import type { Gateway } from './index.ts';
import { configOf, openGateway, openServer } from './testing/test-gateway.ts';

type Send = (path: string, init?: RequestInit & { readonly duplex?: 'half' }) => Promise<Response>;

/** A request through `handler` and through `fetch`: what holds for one holds for the other. */
async function waysInto(t: TestContext, gateway: Gateway): Promise<readonly (readonly [name: string, send: Send])[]> {
  const { url } = await openServer(t, gateway.handler);
  return [
    ['handler', (path, init) => fetch(`${url}${path}`, init)],
    ['fetch', (path, init) => gateway.fetch(new Request(`http://api.example${path}`, init), { address: '127.0.0.1' })],
  ];
}

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

test('requests of another server are routed, changed and answered as those of a listener', async (t) => {
  await using backend = await startBackend();
  const gateway = await openGateway(t, {
    config: configOf(backend.url, { plugins: [{ name: 'correlation-id', config: { echo_downstream: true } }] }, '/a'),
  });
  for (const [name, send] of await waysInto(t, gateway)) {
    const answer = await send('/a/b?c=1', { method: 'POST', body: 'hello', headers: { 'x-one': '1' } });
    assert.equal(answer.status, 200, name);
    assert.ok(answer.headers.has('kong-request-id'), name);
    const seen = (await answer.json()) as Echo;
    assert.deepEqual([seen.method, seen.url, seen.body, seen.headers['x-one']], ['POST', '/b?c=1', 'hello', '1'], name);
    assert.equal((await send('/nowhere')).status, 404, name);
    const head = await send('/a', { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, ''], name);
  }
});

test('the address of the client is that of its connection, whatever its headers say', async (t) => {
  await using backend = await startBackend();
  const config = configOf(backend.url, { plugins: [{ name: 'ip-restriction', config: { deny: ['127.0.0.1'] } }] });
  const gateway = await openGateway(t, { config });
  const headers = { 'x-forwarded-for': '10.1.1.1', 'x-real-ip': '10.1.1.1' };
  for (const [name, send] of await waysInto(t, gateway)) assert.equal((await send('/', { headers })).status, 403, name);
  const allowed = await gateway.fetch(new Request('http://api.example/'), { address: '10.1.1.2', port: 4711 });
  assert.equal(allowed.status, 200);
  assert.equal(((await allowed.json()) as Echo).headers['x-forwarded-for'], '10.1.1.2');
  await assert.rejects(async () => gateway.fetch(new Request('http://x.example/'), { address: 'spoofed' }), TypeError);
});

test('headers that come twice, set cookies, trailers and statuses without a body arrive as they are', async (t) => {
  await using backend = await startBackend({
    handler: (request, response) => {
      if (request.url === '/none') {
        response.writeHead(204).end();
        return;
      }
      response.writeHead(200, 'Fine', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Content-Type', 'text/plain']);
      response.end('x');
    },
  });
  const gateway = await openGateway(t, { config: configOf(backend.url) });
  for (const [name, send] of await waysInto(t, gateway)) {
    const answer = await send('/');
    assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2'], name);
    assert.equal(answer.statusText, 'Fine', name);
    assert.equal((await send('/none')).status, 204, name);
  }
});

const piece = Buffer.alloc(64 * 1024, 'x');

test('a client that does not read stops the backend, and gets everything when it reads on', async (t) => {
  const total = 64 * 1024 * 1024;
  let written = 0;
  await using backend = await startBackend({
    handler: (_request, response) => {
      written = 0;
      const write = (): void => {
        while (written < total) {
          written += piece.byteLength;
          if (!response.write(piece)) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    },
  });
  const gateway = await openGateway(t, { config: configOf(backend.url) });
  for (const [name, send] of await waysInto(t, gateway)) {
    const answer = await send('/');
    // As many bytes as the buffers on the way take, and then none.
    let seen = -1;
    await until(async () => {
      const before = seen;
      seen = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return before === seen && written === seen && written > 0;
    });
    assert.ok(written < total, `${name}: ${written} of ${total} bytes`);
    let read = 0;
    for await (const bytes of answer.body ?? []) read += (bytes as Uint8Array).byteLength;
    assert.equal(read, total, name);
  }
});

test('a backend that does not read stops the client, and gets the whole body when it reads on', async (t) => {
  const total = 64 * 1024 * 1024;
  let received = 0;
  let goOn = (): void => {};
  await using backend = await startBackend({
    handler: (request, response) => {
      received = 0;
      goOn = () => {
        request.on('data', (bytes: Buffer) => {
          received += bytes.byteLength;
        });
        request.on('end', () => response.end(String(received)));
      };
    },
  });
  const gateway = await openGateway(t, { config: configOf(backend.url) });
  for (const [name, send] of await waysInto(t, gateway)) {
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        if (sent >= total) controller.close();
        else controller.enqueue(new Uint8Array(piece));
        sent += piece.byteLength;
      },
    });
    goOn = () => {};
    const answer = send('/', { method: 'POST', body, duplex: 'half' });
    let seen = -1;
    await until(async () => {
      const before = seen;
      seen = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return before === seen && sent === seen && sent > 0;
    });
    assert.ok(sent < total, `${name}: ${sent} of ${total} bytes`);
    goOn();
    assert.equal(await (await answer).text(), String(total), name);
  }
});

test('a client that disconnects ends the request at the backend', async (t) => {
  let gone = 0;
  let arrived = 0;
  await using backend = await startBackend({
    handler: (request, response) => {
      arrived++;
      response.on('close', () => {
        if (!response.writableFinished) gone++;
      });
      if (request.url === '/streams') response.write('begin');
    },
  });
  const gateway = await openGateway(t, { config: configOf(backend.url) });
  for (const [name, send] of await waysInto(t, gateway)) {
    for (const path of ['/waits', '/streams']) {
      [gone, arrived] = [0, 0];
      const abort = new AbortController();
      const answer = send(path, { signal: abort.signal });
      if (path === '/streams') assert.equal((await answer).status, 200);
      else answer.catch(() => {});
      await until(() => arrived === 1);
      abort.abort();
      if (path === '/waits') await assert.rejects(answer, { name: 'AbortError' }, name);
      else await assert.rejects((await answer).text(), { name: 'AbortError' }, name);
      await until(() => gone === 1);
    }
  }
});

test('a backend that breaks off is a broken answer, never a short one', async (t) => {
  await using backend = await startBackend({
    handler: (_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('short');
      setImmediate(() => response.destroy());
    },
  });
  const gateway = await openGateway(t, { config: configOf(backend.url) });
  for (const [name, send] of await waysInto(t, gateway)) {
    await assert.rejects(
      send('/').then((answer) => answer.text()),
      TypeError,
      name,
    );
  }
});

test('limits of heads and bodies apply, and what is ambiguous is refused', async (t) => {
  await using backend = await startBackend();
  const settings = { nginx_http_client_max_body_size: '1k', max_head_size: '2k' };
  const gateway = await openGateway(t, { settings, config: configOf(backend.url) });
  for (const [name, send] of await waysInto(t, gateway)) {
    assert.equal((await send('/', { method: 'POST', body: 'x'.repeat(1024) })).status, 200, name);
    assert.equal((await send('/', { method: 'POST', body: 'x'.repeat(1025) })).status, 413, name);
    assert.ok([431, 494, 400].includes((await send('/', { headers: { 'x-long': 'y'.repeat(3000) } })).status), name);
  }
  const stream = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new Uint8Array(2048));
      controller.close();
    },
  });
  const chunked = new Request('http://api.example/', { method: 'POST', body: stream, duplex: 'half' } as RequestInit);
  assert.equal((await gateway.fetch(chunked)).status, 413);
  assert.deepEqual(
    backend.requests.map(({ body }) => body.length),
    [1024, 1024],
  );
});

test('an upgrade to WebSocket passes through the handler, and other requests of that server do not end with it', async (t) => {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(sockets, 'listening');
  t.after(() => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  });
  sockets.on('connection', (socket, { url }) => {
    socket.on('message', (text) => socket.send(`${url} ${text}`));
  });
  const gateway = await openGateway(t, {
    config: configOf(`http://127.0.0.1:${(sockets.address() as AddressInfo).port}`, {}, '/chat'),
  });
  const { port, server } = await openServer(t, gateway.handler);
  server.on('upgrade', gateway.handler.upgrade);
  const client = new WebSocket(`ws://127.0.0.1:${port}/chat/room`);
  t.after(() => client.terminate());
  await once(client, 'open');
  client.send('hello');
  assert.equal(String((await once(client, 'message'))[0]), '/room hello');
  const refused = new WebSocket(`ws://127.0.0.1:${port}/nowhere`);
  const [error] = (await once(refused, 'error')) as [Error];
  assert.match(error.message, /404/);
  const closed = once(client, 'close');
  await gateway.close({ timeout: 1000 });
  await closed;
});

test('a body that is no longer read does not keep the connection of the other server', async (t) => {
  await using backend = await startBackend();
  const config = configOf(backend.url, { plugins: [{ name: 'request-termination', config: { status_code: 403 } }] });
  const gateway = await openGateway(t, { config });
  const server = createServer(gateway.handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const sent = sendRequest({ port, method: 'POST', path: '/' });
  sent.write(Buffer.alloc(100_000));
  const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
  assert.equal(answer.statusCode, 403);
  sent.end(Buffer.alloc(100_000));
  answer.resume();
  await once(answer, 'end');
});
