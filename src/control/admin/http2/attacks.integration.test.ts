import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { describe, it } from 'node:test';
import {
  Code,
  encodeFields,
  type Fields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  openSecureFrames,
  type StreamRecord,
  settingsPayload,
  uint32,
} from '../../../../test/support/http2-frames.ts';
import { until } from '../../../../test/support/until.ts';
import { echo, startServer } from './http2-server.fixture.ts';

const smuggled = 'GET /smuggled HTTP/1.1\r\nhost: a.test\r\n\r\n';

function head(more: Fields = [], replaced: Readonly<Record<string, string>> = {}): Fields {
  const pseudo = { ':method': 'POST', ':scheme': 'https', ':authority': 'a.test', ':path': '/services', ...replaced };
  return [...Object.entries(pseudo), ...more];
}

/** The answer to one request with this head and body. */
async function send(client: FrameClient, fields: Fields, body: string | null): Promise<StreamRecord> {
  client.request(1, fields, body === null);
  if (body !== null) client.write(frame(Frame.data, Flag.endStream, 1, body));
  return await client.finished(1);
}

describe('a request cannot become another one on its way to the routes', () => {
  const resets: readonly (readonly [string, Fields, string | null])[] = [
    ['a line break in a value', head([['x-a', 'b\r\nx-evil: 1']]), null],
    ['a request in a value', head([['x-a', `b\r\n\r\n${smuggled}`]]), null],
    ['a line break in a name', head([['x-a\r\nx-evil', '1']]), null],
    ['a colon in a name', head([['x-evil: 1', '1']]), null],
    ['a blank in a name', head([['x evil', '1']]), null],
    ['a line break in the path', head([], { ':path': '/ HTTP/1.1\r\nx-evil: 1' }), null],
    ['a line break in the method', head([], { ':method': 'GET / HTTP/1.1\r\nx-a: ' }), null],
    ['a line break in the authority', head([], { ':authority': 'a.test\r\nx-evil: 1' }), null],
    ['transfer-encoding', head([['transfer-encoding', 'chunked']]), `0\r\n\r\n${smuggled}`],
    ['connection', head([['connection', 'keep-alive']]), null],
    ['upgrade', head([['upgrade', 'websocket']]), null],
    ['a body shorter than declared', head([['content-length', '9']]), 'abc'],
    ['a body longer than declared', head([['content-length', '3']]), `abc${smuggled}`],
    ['a length of 0 with a body', head([['content-length', '0']]), smuggled],
    ['a length without a body', head([['content-length', '3']]), null],
    ['an upper-case name', head([['X-A', '1']]), null],
    ['a second path', [...head(), [':path', '/']], null],
    ['an extended CONNECT', head([], { ':method': 'CONNECT', ':protocol': 'websocket' }), null],
    ['no path', head([], { ':path': '' }), null],
  ];
  for (const [name, fields, body] of resets) {
    it(`${name} resets the stream`, async () => {
      await using server = await startServer(echo);
      using client = await openSecureFrames(server.port);
      const answer = await send(client, fields, body);
      assert.deepEqual([answer.status, answer.code], [0, Code.protocolError]);
      // A body that is too long or too short may show when the routes have the head.
      assert.ok(server.seen.every(({ line }) => line === 'POST /services HTTP/2.0'));
      assert.ok(server.seen.length <= 1);
      assert.ok(server.seen.every(({ request }) => request.headers['x-evil'] === undefined));
      const complete = server.seen.filter(({ request }) => request.complete);
      assert.ok(complete.every(({ request }) => request.headers['content-length'] === '0'));
    });
  }

  const refusals: readonly (readonly [string, number, Fields, string | null])[] = [
    ['a blank in the path', 400, head([], { ':path': '/ HTTP/1.1' }), null],
    ['a path without a slash', 400, head([], { ':path': 'services' }), null],
    ['an absolute URL as path', 400, head([], { ':path': 'http://b.test/' }), null],
    ['a method with a blank', 400, head([], { ':method': 'GET /smuggled' }), null],
    ['an unknown method', 501, head([], { ':method': 'BREW' }), null],
    ['a host that differs', 400, head([['host', 'b.test']]), null],
    [
      'two lengths',
      400,
      head([
        ['content-length', '3'],
        ['content-length', '3'],
      ]),
      'abc',
    ],
    ['a length with a sign', 400, head([['content-length', '+3']]), 'abc'],
    ['a list of lengths', 400, head([['content-length', '3, 3']]), 'abc'],
    ['another scheme', 400, head([], { ':scheme': 'ftp' }), null],
    ['CONNECT', 405, head([], { ':method': 'CONNECT' }), null],
    ['too many fields', 431, head(Array.from({ length: 200 }, (_, at) => [`x-${at}`, '1'] as const)), null],
  ];
  for (const [name, status, fields, body] of refusals) {
    it(`${name} is answered with ${status}`, async () => {
      await using server = await startServer(echo);
      using client = await openSecureFrames(server.port);
      assert.equal((await send(client, fields, body)).status, status);
      assert.equal(server.seen.length, 0);
    });
  }

  it('a head above 16 KiB is answered with 431', async () => {
    await using server = await startServer(echo);
    using client = await openSecureFrames(server.port);
    const block = encodeFields(
      head([
        ['x-a', 'a'.repeat(10_000)],
        ['x-b', 'b'.repeat(10_000)],
      ]),
    );
    client.write(frame(Frame.headers, Flag.endStream, 1, block.subarray(0, 12_000)));
    client.write(frame(Frame.continuation, Flag.endHeaders, 1, block.subarray(12_000)));
    assert.equal((await client.finished(1)).status, 431);
    assert.equal(server.seen.length, 0);
  });

  it('chunks and requests in a body without a length stay bytes of the body', async () => {
    await using server = await startServer(echo);
    using client = await openSecureFrames(server.port);
    const body = `0\r\n\r\n${smuggled}5\r\nhello\r\n0\r\n\r\n`;
    client.request(1, head(), false);
    for (const byte of body) client.write(frame(Frame.data, 0, 1, byte));
    client.write(frame(Frame.headers, Flag.endHeaders | Flag.endStream, 1, encodeFields([['content-length', '1']])));
    const answer = await client.finished(1);
    assert.deepEqual([answer.status, answer.bytes], [200, body.length]);
    assert.deepEqual(
      server.seen.map(({ line }) => line),
      ['POST /services HTTP/2.0'],
    );
  });
});

describe('what one client can cost', () => {
  it('Rapid Reset ends the connection after about 200 requests', async () => {
    await using server = await startServer((request) => request.resume());
    using client = await openSecureFrames(server.port);
    const begun = performance.now();
    for (let stream = 1; stream < 4_000; stream += 2) {
      client.request(stream, head());
      client.write(frame(Frame.rstStream, 0, stream, uint32(Code.cancel)));
    }
    assert.equal(await client.refused(), Code.enhanceYourCalm);
    await until(() => client.closed);
    // 20 more for each second that it took.
    const most = 210 + (20 * (performance.now() - begun)) / 1000;
    assert.ok(server.seen.length <= most, `${server.seen.length} requests`);
    await until(() => server.seen.every(({ response }) => response.destroyed));
  });

  it('a head without end ends the connection, and no request is seen', async () => {
    await using server = await startServer(echo);
    using client = await openSecureFrames(server.port);
    client.write(frame(Frame.headers, 0, 1, encodeFields(head())));
    for (let at = 0; at < 200; at++) client.write(frame(Frame.continuation, 0, 1, encodeFields([['x-a', '1']])));
    assert.equal(await client.refused(), Code.enhanceYourCalm);
    assert.equal(server.seen.length, 0);
  });

  for (const [name, flood] of [
    ['PING', frame(Frame.ping, 0, 0, Buffer.alloc(8))],
    ['SETTINGS', frame(Frame.settings, 0, 0)],
  ] as const) {
    it(`a flood of ${name} ends the connection`, async () => {
      await using server = await startServer(echo);
      using client = await openSecureFrames(server.port);
      for (let at = 0; at < 2_000; at++) client.write(flood);
      assert.equal(await client.refused(), Code.enhanceYourCalm);
    });
  }

  it('streams above 100 are refused, and the others are answered', async () => {
    const held: (() => void)[] = [];
    await using server = await startServer((_request, response) => void held.push(() => response.end('ok')));
    using client = await openSecureFrames(server.port);
    for (let stream = 1; stream <= 2 * 110; stream += 2) client.request(stream, head());
    await client.until(() => client.record(219).code !== null);
    assert.equal(client.record(219).code, Code.refusedStream);
    assert.equal(server.seen.length, 100);
    for (const answer of held) answer();
    assert.deepEqual([(await client.finished(1)).status, (await client.finished(199)).status], [200, 200]);
  });

  it('a client that does not take its answer loses the stream, and the routes do not fill the memory', async () => {
    const piece = Buffer.alloc(65_536);
    let written = 0;
    await using server = await startServer(
      (_request, response) => {
        const more = (): void => {
          while (!response.destroyed && written < 2 ** 28) {
            written += piece.length;
            if (!response.write(piece)) return;
          }
        };
        response.on('drain', more);
        more();
      },
      (it) => it.setTimeout(400),
    );
    using client = await openSecureFrames(server.port, settingsPayload([4, 0]));
    client.request(1, head());
    const [seen] = await (async () => {
      await until(() => server.seen.length === 1);
      return server.seen;
    })();
    assert.equal((await client.finished(1)).code, Code.cancel);
    await until(() => seen?.response.destroyed === true);
    assert.ok(written <= 4 * piece.length, `${written} bytes`);
  });

  it('a body that the routes do not read is not taken beyond its window and the buffers of Node', async () => {
    await using server = await startServer(() => {});
    using client = await openSecureFrames(server.port);
    client.request(1, head(), false);
    await until(() => server.seen.length === 1);
    // A window of 128 KiB, and buffers of 64 KiB in front of the parser and behind it, each with a piece too many.
    for (let at = 0; at < 32; at++) client.write(frame(Frame.data, 0, 1, Buffer.alloc(16_384)));
    assert.equal((await client.finished(1)).code, Code.flowControlError);
  });

  it('a body that never ends costs the request, and what was answered by then stays what it is', async () => {
    const started: RequestListener = (request, response) => {
      request.resume();
      if (request.url === '/events') response.writeHead(200).write('data: 1\n\n');
    };
    const set = (it: Server): void => {
      it.headersTimeout = 200;
      it.requestTimeout = 300;
    };
    await using server = await startServer(started, set, { connectionsCheckingInterval: 50 });
    using client = await openSecureFrames(server.port);
    client.request(1, head(), false);
    client.request(3, head([], { ':path': '/events' }), false);
    assert.equal((await client.finished(1)).status, 408);
    const events = await client.finished(3);
    assert.deepEqual([events.status, events.bytes, events.code], [200, 9, Code.internalError]);
  });

  it('a connection on which nothing happens is closed, at its start and after a request', async () => {
    await using server = await startServer(echo, (it) => {
      it.headersTimeout = 300;
      it.keepAliveTimeout = 300;
    });
    using silent = await openSecureFrames(server.port, null);
    using client = await openSecureFrames(server.port);
    assert.equal((await send(client, head(), 'a')).status, 200);
    await until(() => silent.closed && client.closed);
    assert.equal(client.goawayCode, Code.noError);
  });

  it('a connection that is cut frees its requests', async () => {
    await using server = await startServer(() => {});
    using client = await openSecureFrames(server.port);
    for (let stream = 1; stream < 20; stream += 2) client.request(stream, head());
    await until(() => server.seen.length === 10);
    const closed = server.seen.map(({ response }) => once(response, 'close'));
    client.close();
    await Promise.all(closed);
  });
});
