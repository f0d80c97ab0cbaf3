import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { http2Settings } from '../support/http2-rig.ts';
import { exchangeThrough, proxyEndpoints } from '../support/proxy-endpoints.ts';
import { answer, byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

function get(path: string, lines = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: example.com\r\n${lines}\r\n`;
}

describe('answers of a backend', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: http2Settings(),
      script: byName({
        plain: (connection) => connection.write(answer('plain', 'Content-Type: text/plain\r\n')),
        named: (connection) => connection.write(answer('named', 'Server: backend/1\r\nVia: 1.0 cache\r\n')),
        error: (connection) => connection.write(answer('its own', 'X-A: b\r\n', '500 Broken')),
        cookies: (connection) => connection.write(answer('', 'Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n')),
        odd: (connection) => connection.write(answer('odd', '', '299 Odd Reason')),
        noreason: (connection) => connection.write('HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok'),
        old: (connection) => connection.end('HTTP/1.0 200 OK\r\nX-Old: 1\r\n\r\nold body'),
        trailers: (connection) =>
          connection.write(
            'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 42\r\nContent-Length: 9\r\n\r\n',
          ),
        'ten-chunks': (connection) =>
          connection.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(10)}0\r\n\r\n`),
      }),
    });
  });
  after(() => rig.close());

  for (const endpoint of proxyEndpoints)
    describe(`by ${endpoint}`, () => {
      it('carry the headers that the gateway adds', async () => {
        const response = await exchangeThrough(endpoint, rig.gateway, get('/plain'));
        assert.equal(response.body, 'plain');
        assert.match(response.get('via') ?? '', /^1\.1 kong\/\d/);
        assert.match(response.get('server') ?? '', /^kong\/\d/);
        assert.match(response.get('x-kong-upstream-latency') ?? '', /^\d+$/);
        assert.match(response.get('x-kong-proxy-latency') ?? '', /^\d+$/);
        assert.match(response.get('x-kong-request-id') ?? '', /^[0-9a-f]{32}$/);
        assert.equal(response.get('x-kong-response-latency'), undefined);
        assert.equal(response.get('x-kong-request-id'), rig.backend.requests.at(-1)?.get('x-kong-request-id'));
      });

      it('keep their Server header, and get an entry appended to Via', async () => {
        const response = await exchangeThrough(endpoint, rig.gateway, get('/named'));
        assert.equal(response.get('server'), 'backend/1');
        assert.match(response.all('via').join(', '), /^1\.0 cache, 1\.1 kong\//);
      });

      it('are forwarded unchanged, including errors', async () => {
        const response = await exchangeThrough(endpoint, rig.gateway, get('/error'));
        assert.equal(response.status, 500);
        assert.equal(response.body, 'its own');
        assert.equal(response.get('x-a'), 'b');
        assert.equal((await exchangeThrough(endpoint, rig.gateway, get('/odd'))).status, 299);
        assert.equal((await exchangeThrough(endpoint, rig.gateway, get('/noreason'))).body, 'ok');
      });

      it('keep several Set-Cookie lines separate', async () => {
        assert.deepEqual((await exchangeThrough(endpoint, rig.gateway, get('/cookies'))).all('set-cookie'), [
          'a=1',
          'b=2',
        ]);
      });

      it('have their trailers forwarded to a client that accepts them', async () => {
        const wanted = await exchangeThrough(
          endpoint,
          rig.gateway,
          get('/trailers', 'TE: trailers\r\nConnection: TE\r\n'),
        );
        assert.equal(wanted.trailers.toLowerCase(), 'x-sum: 42\r\n');
        assert.equal(wanted.get('trailer'), 'X-Sum');
        const unwanted = await exchangeThrough(endpoint, rig.gateway, get('/trailers'));
        assert.equal(unwanted.body, 'hello');
        assert.equal(unwanted.get('trailer'), undefined);
      });
    });

  it('of HTTP/1.0 reach an HTTP/1.1 client complete, on a connection that stays open', async () => {
    using client = await openClient(rig.port);
    client.write(get('/old'));
    const response = await client.readResponse();
    assert.equal(response.body, 'old body');
    assert.equal(response.framing, 'chunked');
    client.write(get('/plain'));
    assert.equal((await client.readResponse()).body, 'plain');
  });

  it('of unknown length end with a close for an HTTP/1.0 client', async () => {
    using client = await openClient(rig.port);
    client.write('GET /ten-chunks HTTP/1.0\r\nHost: a\r\n\r\n');
    const { text } = await client.readToEnd();
    assert.doesNotMatch(text, /transfer-encoding/i);
    assert.match(text, /\r\n\r\nxxxxxxxxxx$/);
  });

  it('of known length keep an HTTP/1.0 connection open on request', async () => {
    using client = await openClient(rig.port);
    client.write('GET /plain HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n');
    const response = await client.readResponse();
    assert.equal(response.get('connection')?.toLowerCase(), 'keep-alive');
    client.write('GET /plain HTTP/1.0\r\nHost: a\r\n\r\n');
    assert.match((await client.readToEnd()).text, /plain$/);
  });
});

describe('connections', () => {
  it('to the backend are reused, newest first', async () => {
    await using rig = await startRig();
    using client = await openClient(rig.port);
    for (let count = 0; count < 20; count++) {
      client.write(get('/'));
      assert.equal((await client.readResponse()).status, 200);
    }
    assert.equal(rig.backend.connections.length, 1);
  });

  it('of a client close when it sends Connection: close', async () => {
    await using rig = await startRig();
    using client = await openClient(rig.port);
    client.write(get('/', 'Connection: close\r\n'));
    const response = await client.readResponse();
    assert.equal(response.get('connection')?.toLowerCase(), 'close');
    assert.equal((await client.readToEnd()).text, '');
  });

  it('of a client close after the configured number of requests', async () => {
    await using rig = await startRig({ settings: { keepaliveRequests: 3 } });
    using client = await openClient(rig.port);
    for (let count = 1; count <= 3; count++) {
      client.write(get('/'));
      const response = await client.readResponse();
      assert.equal(response.get('connection')?.toLowerCase() === 'close', count === 3);
    }
    assert.equal((await client.readToEnd()).text, '');
  });

  it('to the backend are not kept when the pool is off', async () => {
    await using rig = await startRig({
      settings: { upstreamKeepalive: { poolSize: 0, maxRequests: 10, idleTimeout: 1000 } },
    });
    using client = await openClient(rig.port);
    for (let count = 0; count < 3; count++) {
      client.write(get('/'));
      assert.equal((await client.readResponse()).status, 200);
    }
    assert.equal(rig.backend.connections.length, 3);
  });
});
