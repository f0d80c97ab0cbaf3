import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answer, type BackendConnection, byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 15, bodies: an incomplete body never looks complete to the client, and its connection is not reused. */
const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Sent after a correct first chunk, so that the client's answer has begun. */
const badChunks: Readonly<Record<string, string>> = {
  'a size with 0x': '0x5\r\nhello\r\n0\r\n\r\n',
  'a signed size': '+5\r\nhello\r\n0\r\n\r\n',
  'a blank after the size': '5 \r\nhello\r\n0\r\n\r\n',
  'an empty size': '\r\nhello\r\n0\r\n\r\n',
  'a size of 17 digits': '00000000000000005\r\nhello\r\n0\r\n\r\n',
  'no CRLF after the data': '5\r\nhello0\r\n\r\n',
  'an LF only after the data': '5\r\nhello\n0\r\n\r\n',
  'an LF only after the size': '5\nhello\r\n0\r\n\r\n',
  'an LF only at the end': '5\r\nhello\r\n0\r\n\n',
  'an endless extension': `5;${'a'.repeat(100_000)}`,
  'endless trailers': `0\r\n${'X-A: b\r\n'.repeat(20_000)}`,
  'a malformed trailer': '0\r\nX-A : b\r\n\r\n',
};

async function waitForEnd(connection: BackendConnection): Promise<void> {
  for (;;) await connection.readRequest();
}

describe('malformed bodies of a backend', { concurrency: 32 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      script: byName({
        ...Object.fromEntries(
          Object.entries(badChunks).map(([what, bytes]) => [
            what,
            async (connection: BackendConnection) => {
              connection.write(`${chunkedHead}5\r\nfirst\r\n`);
              await delay(10);
              connection.write(bytes);
              await waitForEnd(connection);
            },
          ]),
        ),
      }),
    });
  });
  after(() => rig.close());

  for (const what of Object.keys(badChunks)) {
    it(`break the transfer to the client: ${what}`, async () => {
      const target = `/${encodeURIComponent(what)}`;
      using client = await openClient(rig.port);
      client.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
      const response = await client.readResponse();
      // A gateway that had not sent anything yet may still say 502.
      if (response.status === 200) {
        assert.equal(response.complete, false);
        assert.notEqual(client.reader.ended, null);
      } else assert.equal(response.status, 502);
      const carried = await rig.backend.request((request) => request.target === target);
      await carried.connection.closed;
      assert.ok(carried.connection.received.endsWith(carried.raw), 'the connection carried another request');
    });
  }
});

describe('bodies of another length than declared', { concurrency: 8 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      script: byName({
        'short-length': (connection) => connection.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello'),
        'short-chunk': (connection) => connection.end(`${chunkedHead}a\r\nhello`),
        'no-last-chunk': (connection) => connection.end(`${chunkedHead}5\r\nhello\r\n`),
        'no-trailer-end': (connection) => connection.end(`${chunkedHead}5\r\nhello\r\n0\r\nX-A: b\r\n`),
        reset: async (connection) => {
          connection.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
          await delay(20);
          connection.reset();
        },
        'reset-until-close': async (connection) => {
          connection.write('HTTP/1.1 200 OK\r\n\r\nhello');
          await delay(20);
          connection.reset();
        },
        'until-close': (connection) => connection.end('HTTP/1.1 200 OK\r\n\r\nhello'),
        'too-long': (connection) =>
          connection.write(`${answer('hello')}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`),
        'too-long-chunked': (connection) =>
          connection.write(`${chunkedHead}5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`),
        'head-then-close': (connection) => connection.end('HTTP/1.1 200 OK\r\nContent-Le'),
        nothing: (connection) => connection.end(),
        plain: (connection, request) => connection.write(answer(`plain ${request.target}`)),
      }),
    });
  });
  after(() => rig.close());

  for (const name of ['short-length', 'short-chunk', 'no-last-chunk', 'no-trailer-end', 'reset', 'reset-until-close']) {
    it(`break the transfer when too short: ${name}`, async () => {
      using client = await openClient(rig.port);
      client.write(`GET /${name} HTTP/1.1\r\nHost: a\r\n\r\n`);
      const response = await client.readResponse();
      if (response.status === 502) return;
      assert.equal(response.status, 200);
      assert.equal(response.complete, false);
      assert.notEqual(client.reader.ended, null);
    });
  }

  it('are complete when they end with the connection as declared', async () => {
    using client = await openClient(rig.port);
    client.write('GET /until-close HTTP/1.1\r\nHost: a\r\n\r\n');
    const response = await client.readResponse();
    assert.equal(response.body, 'hello');
    assert.equal(response.complete, true);
  });

  for (const name of ['too-long', 'too-long-chunked']) {
    it(`never pass surplus bytes to the next request: ${name}`, async () => {
      using client = await openClient(rig.port);
      client.write(`GET /${name} HTTP/1.1\r\nHost: a\r\n\r\n`);
      const response = await client.readResponse();
      assert.equal(response.body, 'hello');
      for (let count = 0; count < 3; count++) {
        client.write(`GET /plain?${name}${count} HTTP/1.1\r\nHost: a\r\n\r\n`);
        assert.equal((await client.readResponse()).body, `plain /plain?${name}${count}`);
      }
      const carried = await rig.backend.request((request) => request.target === `/${name}`);
      await carried.connection.closed;
      assert.doesNotMatch(carried.connection.received, new RegExp(`plain\\?${name}`));
    });
  }

  for (const name of ['head-then-close', 'nothing']) {
    it(`cause a 502 when nothing usable arrived: ${name}`, async () => {
      using client = await openClient(rig.port);
      client.write(`POST /${name} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
      assert.equal((await client.readResponse()).status, 502);
    });
  }
});
