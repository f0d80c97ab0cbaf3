import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Http2Client, openHttp2 } from '../support/http2-client.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, byName } from '../support/raw-backend.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

for (const secure of [false, true]) {
  describe(`HTTP/2 ${secure ? 'over TLS' : 'by prior knowledge'}`, () => {
    let rig: Http2Rig;
    let client: Http2Client;
    before(async () => {
      rig = await startHttp2Rig({
        script: byName({
          echo: (connection, request) =>
            connection.write(answer(request.body, 'X-One: 1\r\nX-Two: a, b\r\nX-Two: c\r\n')),
          chunked: (connection) =>
            connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
          trailers: (connection) =>
            connection.write(
              'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: grpc-status\r\nContent-Type: application/grpc\r\n\r\n3\r\nabc\r\n0\r\ngrpc-status: 0\r\ngrpc-message: fine\r\n\r\n',
            ),
          nothing: (connection) => connection.write('HTTP/1.1 204 No Content\r\n\r\n'),
          unchanged: (connection) =>
            connection.write('HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 10\r\n\r\n'),
          head: (connection) => connection.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'),
          hints: (connection) =>
            connection.write(`HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n${answer('hinted')}`),
          odd: (connection) => connection.write(answer('odd', '', '777 Odd')),
          cut: (connection) => {
            connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
            connection.reset();
          },
          short: (connection) => {
            connection.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc');
            connection.end();
          },
          large: (connection) => {
            connection.write(`HTTP/1.1 200 OK\r\nContent-Length: ${10_000_000}\r\n\r\n`);
            for (let left = 100; left > 0; left--) connection.write(Buffer.alloc(100_000, 'x'));
          },
        }),
      });
      client = await openHttp2(secure ? rig.tlsPort : rig.port, secure);
    });
    after(async () => {
      await client.close();
      await rig.close();
    });

    it('forwards requests and answers', async () => {
      const got = await client.request('/echo?a=1', {
        headers: { ':method': 'POST', ':authority': 'api.example:8443', 'x-client': 'yes' },
        body: 'hello',
      });
      assert.equal(got.status, 200);
      assert.equal(String(got.body), 'hello');
      assert.equal(got.headers['x-one'], '1');
      assert.equal(got.headers['x-two'], 'a, b, c');
      assert.equal(got.headers['content-length'], '5');
      assert.match(String(got.headers.via), /^1\.1 kong\//);
      assert.match(String(got.headers['x-kong-request-id']), /^[0-9a-f]{32}$/);
      const seen = await rig.backend.request((request) => request.target === '/echo?a=1');
      assert.equal(seen.startLine, 'POST /echo?a=1 HTTP/1.1');
      assert.match(seen.get('via') ?? '', /^2 kong\//);
      assert.equal(seen.get('x-client'), 'yes');
      assert.equal(seen.get('x-forwarded-host'), 'api.example');
      assert.equal(seen.get('x-forwarded-proto'), secure ? 'https' : 'http');
      assert.equal(seen.get('transfer-encoding'), 'chunked');
    });

    it('keeps a declared length, and joins cookies into one line', async () => {
      await client.request('/echo/length', {
        headers: { ':method': 'PUT', 'content-length': 5, cookie: ['a=1', 'b=2'] },
        body: 'hello',
      });
      const seen = await rig.backend.request((request) => request.target === '/echo/length');
      assert.equal(seen.get('content-length'), '5');
      assert.equal(seen.get('transfer-encoding'), undefined);
      assert.equal(seen.get('cookie'), 'a=1; b=2');
    });

    it('answers many requests at once on one connection', async () => {
      const all = Array.from({ length: 100 }, (_, index) =>
        client.request('/echo/many', { headers: { ':method': 'POST' }, body: `body ${index}` }),
      );
      const bodies = (await Promise.all(all)).map((got) => String(got.body));
      assert.deepEqual(
        bodies,
        Array.from({ length: 100 }, (_, index) => `body ${index}`),
      );
    });

    it('forwards a body of undeclared length', async () => {
      const got = await client.request('/chunked');
      assert.equal(String(got.body), 'abcde');
      assert.equal(got.headers['transfer-encoding'], undefined);
      assert.equal(got.code, 0);
    });

    it('forwards trailers both ways', async () => {
      const got = await client.request('/trailers', {
        headers: { ':method': 'POST', te: 'trailers', 'content-type': 'application/grpc' },
        body: 'request',
        trailers: { 'x-checksum': 'abc', 'x-consumer-id': 'evil' },
      });
      assert.equal(String(got.body), 'abc');
      assert.equal(got.headers['content-type'], 'application/grpc');
      assert.equal(got.trailers['grpc-status'], '0');
      assert.equal(got.trailers['grpc-message'], 'fine');
      const seen = await rig.backend.request((request) => request.target === '/trailers');
      assert.equal(seen.get('te'), 'trailers');
      assert.equal(seen.trailers, 'x-checksum: abc\r\n');
    });

    it('answers HEAD, 204 and 304 without a body', async () => {
      const head = await client.request('/head', { headers: { ':method': 'HEAD' } });
      assert.equal(head.status, 200);
      assert.equal(head.headers['content-length'], '1000');
      assert.equal(head.body.length, 0);
      assert.equal(head.code, 0);
      const nothing = await client.request('/nothing');
      assert.equal(nothing.status, 204);
      assert.equal(nothing.headers['content-length'], undefined);
      const unchanged = await client.request('/unchanged');
      assert.equal(unchanged.status, 304);
      assert.equal(unchanged.headers.etag, '"a"');
      assert.equal(unchanged.code, 0);
    });

    it('forwards 103', async () => {
      const got = await client.request('/hints');
      assert.equal(got.informational[0]?.[':status'], 103);
      assert.equal(got.informational[0]?.['link'], '</a.css>; rel=preload');
      assert.equal(String(got.body), 'hinted');
    });

    it('answers Expect: 100-continue itself', async () => {
      const stream = client.open('/echo/expect', { ':method': 'POST', expect: '100-continue' });
      await new Promise((resolve) => stream.once('continue', resolve));
      stream.end('after');
      const pieces: Buffer[] = [];
      for await (const piece of stream) pieces.push(piece);
      assert.equal(String(Buffer.concat(pieces)), 'after');
    });

    for (const what of ['cut', 'short']) {
      it(`resets the stream of an answer that is ${what}`, async () => {
        const got = await client.request(`/${what}`);
        assert.equal(got.status, 200);
        assert.equal(got.code, 2);
        assert.equal((await client.request('/chunked')).status, 200);
      });
    }

    it('answers 502 for an invalid status', async () => {
      assert.equal((await client.request('/odd')).status, 502);
    });

    it('forwards large answers', async () => {
      const got = await client.request('/large');
      assert.equal(got.body.length, 10_000_000);
      assert.equal(got.code, 0);
    });

    it('forwards large requests', async () => {
      const got = await client.request('/echo/large', {
        headers: { ':method': 'POST' },
        body: Buffer.alloc(3_000_000, 'y'),
      });
      assert.equal(got.body.length, 3_000_000);
    });

    it('refuses CONNECT and TRACE', async () => {
      const trace = await client.request('/echo', { headers: { ':method': 'TRACE' } });
      assert.equal(trace.status, 405);
      assert.equal(trace.headers.allow, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
      const connect = client.session.request({ ':method': 'CONNECT', ':authority': 'a.example:443' });
      const [headers] = await new Promise<[Record<string, unknown>]>((resolve) =>
        connect.once('response', (fields) => resolve([fields as Record<string, unknown>])),
      );
      assert.equal(headers[':status'], 405);
      connect.close();
    });

    it('writes the access log', async () => {
      await client.request('/echo/logged', { headers: { 'user-agent': 'h2-test' } });
      const line = /"GET \/echo\/logged HTTP\/2\.0" 200 \d+ "-" "h2-test"/;
      await until(async () => line.test(await readFile(join(rig.gateway.prefix, 'access.log'), 'utf8')));
    });

    it('still serves HTTP/1.1', async () => {
      if (secure) return;
      const got = await exchangeOne(rig.port, 'GET /chunked HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.equal(got.body, 'abcde');
    });
  });
}
