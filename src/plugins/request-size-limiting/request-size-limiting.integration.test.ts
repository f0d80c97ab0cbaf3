import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne, openClient } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

const limit = 100_000;
const piece = `2710\r\n${'x'.repeat(10_000)}\r\n`;
const head = (path: string, lines = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${lines}Transfer-Encoding: chunked\r\n\r\n`;

describe('a body whose length is not declared', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
    await rig.write('POST', '/plugins', {
      name: 'request-size-limiting',
      config: { allowed_payload_size: limit, size_unit: 'bytes' },
    });
    await rig.write('PUT', '/services/backend/routes/echo', { paths: ['/echo'] });
    const config = { echo: true, status_code: 200, trigger: 'X-Echo' };
    await rig.write('POST', '/routes/echo/plugins', { name: 'request-termination', config });
    await rig.write('PUT', '/upstreams/pair', { name: 'pair' });
    // No server listens at the first target.
    await rig.write('POST', '/upstreams/pair/targets', { target: '127.0.0.1:1' });
    await rig.write('POST', '/upstreams/pair/targets', { target: `127.0.0.1:${rig.backend.port}` });
    await rig.write('PUT', '/services/pair', { host: 'pair', retries: 3 });
    await rig.write('PUT', '/services/pair/routes/pair', { paths: ['/pair'] });
  });
  after(() => rig.close());

  it('is accepted within the limit', async () => {
    const answer = await exchangeOne(rig.port, `${head('/fits')}${piece.repeat(10)}0\r\n\r\n`, 'POST');
    assert.equal(answer.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.body.length, limit);
  });

  for (const [what, path, lines] of [
    ['is cut off at the limit', '/streamed', ''],
    ['is cut off when it is collected for a plugin', '/echo', 'X-Echo: 1\r\n'],
    ['is cut off when an attempt has failed', '/pair', ''],
  ] as const) {
    it(what, async () => {
      using client = await openClient(rig.port);
      const seen = rig.backend.connections.length;
      client.write(head(path, lines) + piece.repeat(11));
      // The answer arrives before the body has ended.
      const answer = await client.readResponse('POST');
      assert.equal(answer.status, 413);
      assert.match(answer.body, /"message":"Request size limit exceeded"/);
      assert.equal(answer.get('connection'), 'close');
      assert.equal((await client.readToEnd()).text, '');
      for (const connection of rig.backend.connections.slice(seen)) {
        await connection.closed;
        assert.ok((connection.received.match(/x/g) ?? []).length <= limit + 100);
        assert.doesNotMatch(connection.received, /\r\n0\r\n/);
      }
      assert.ok(rig.backend.requests.every((request) => request.body.length <= limit));
    });
  }

  it('is refused one byte above the limit', async () => {
    const answer = await exchangeOne(rig.port, `${head('/byte')}${piece.repeat(10)}1\r\nx\r\n0\r\n\r\n`, 'POST');
    assert.equal(answer.status, 413);
  });

  it('does not affect the next connection and the next request', async () => {
    using client = await openClient(rig.port);
    for (const _ of [1, 2]) {
      client.write(`${head('/again')}${piece.repeat(10)}0\r\n\r\n`);
      assert.equal((await client.readResponse('POST')).status, 200);
    }
  });
});

describe('a body whose length is declared', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
    const config = { allowed_payload_size: 5, size_unit: 'bytes', require_content_length: true };
    await rig.write('POST', '/plugins', { name: 'request-size-limiting', config });
  });
  after(() => rig.close());

  it('is refused before it is sent', async () => {
    using client = await openClient(rig.port);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n');
    const answer = await client.readResponse('POST');
    assert.equal(answer.status, 417);
    assert.match(answer.body, /"message":"Request size limit exceeded"/);
    assert.equal(rig.backend.requests.length, 0);
  });

  it('is accepted within the limit', async () => {
    const bytes = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello';
    assert.equal((await exchangeOne(rig.port, bytes, 'POST')).status, 200);
  });

  it('is required if configured', async () => {
    assert.equal((await exchangeOne(rig.port, 'POST / HTTP/1.1\r\nHost: a\r\n\r\n', 'POST')).status, 411);
  });
});
