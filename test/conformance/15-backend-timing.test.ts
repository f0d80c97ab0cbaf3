import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answer, byName, startRawBackend } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { startRig } from '../support/rig.ts';

/** Case 15, timing: an answer belongs to a request that was sent, and its head must arrive in time. */
describe('answers at the wrong time', () => {
  it('are not given to a request that was sent after them', async () => {
    const backend = await startRawBackend(async (connection) => {
      connection.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
      const request = await connection.readRequest();
      connection.write(answer(`second for ${request.target}`));
      await connection.closed;
    });
    await using rig = await startRig({ service: { url: backend.url } });
    try {
      using client = await openClient(rig.port);
      client.write('GET /one HTTP/1.1\r\nHost: a\r\n\r\n');
      const first = await client.readResponse();
      client.write('GET /two HTTP/1.1\r\nHost: a\r\n\r\n');
      const second = await client.readResponse();
      // Bytes that race with the first request look like its answer. A second answer on that connection never counts.
      assert.ok(first.status === 502 || first.body === 'evil' || first.body === 'second for /one', first.body);
      assert.notEqual(second.body, 'second for /one');
    } finally {
      await backend.close();
    }
  });

  it('are not given to the next request when they arrive on an idle connection', async () => {
    const backend = await startRawBackend(async (connection) => {
      for (;;) {
        const request = await connection.readRequest();
        connection.write(answer(`for ${request.target}`));
        if (request.target === '/first') {
          await delay(30);
          connection.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
        }
      }
    });
    await using rig = await startRig({ service: { url: backend.url } });
    try {
      using client = await openClient(rig.port);
      client.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.equal((await client.readResponse()).body, 'for /first');
      await backend.connections[0]?.closed;
      client.write('GET /second HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.equal((await client.readResponse()).body, 'for /second');
      assert.equal(backend.connections.length, 2);
    } finally {
      await backend.close();
    }
  });

  it('cause a 504 when their head trickles forever', async () => {
    await using rig = await startRig({
      service: { read_timeout: 400 },
      script: byName({
        trickle: async (connection) => {
          for (const byte of 'HTTP/1.1 200 OK\r\n') connection.write(byte);
          while (connection.socket.writable) {
            connection.write('X');
            await delay(50);
          }
        },
      }),
    });
    using client = await openClient(rig.port);
    const begun = performance.now();
    client.write('GET /trickle HTTP/1.1\r\nHost: a\r\n\r\n');
    const response = await client.readResponse();
    assert.equal(response.status, 504);
    assert.match(response.body, /^The upstream server is timing out\n/);
    assert.ok(performance.now() - begun < 5_000);
  });
});
