import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answer, answerEach, byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { startRig } from '../support/rig.ts';

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${headers}\r\n`;
/** More than the kernel buffers of a loopback connection hold. */
const big = 'x'.repeat(24 * 1024 * 1024);

describe('a client that reads slowly', () => {
  it('leaves the connection to the backend reusable for the next request', async () => {
    // A full read makes the gateway stop reading until the client has taken it; here it is the last one.
    const size = 65_536;
    await using rig = await startRig({
      script: async (connection) => {
        for (;;) {
          await connection.readRequest();
          connection.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
          await received.promise;
          connection.write('x'.repeat(size));
        }
      },
    });
    let received = Promise.withResolvers<void>();
    using client = await openClient(rig.port);
    for (let turn = 0; turn < 20; turn++) {
      client.write(get('/'));
      await client.reader.readUntil('\r\n\r\n');
      received.resolve();
      await client.reader.readExactly(size);
      received = Promise.withResolvers();
    }
    assert.equal(rig.backend.connections.length, 1);
  });

  it('does not count as a backend timeout', async () => {
    await using rig = await startRig({
      script: answerEach(() => answer(big)),
      service: { read_timeout: 300 },
    });
    using client = await openClient(rig.port);
    client.reader.pause();
    client.write(get('/big'));
    await delay(1_200);
    client.reader.resume();
    const { body, complete } = await client.readResponse();
    assert.equal(complete, true);
    assert.equal(body.length, big.length);
  });

  it('gets the complete answer when the connection closes after it', async () => {
    await using rig = await startRig({ script: answerEach(() => answer(big)) });
    using client = await openClient(rig.port);
    client.write(get('/', 'Connection: close\r\n'));
    // Reads until little is left, so that the rest waits in the gateway and the kernel, then pauses.
    await client.reader.readUntil('\r\n\r\n');
    let left = big.length;
    while (left > 3_500_000) left -= (await client.reader.readExactly(65_536)).length;
    client.reader.pause();
    await delay(3_000);
    client.reader.resume();
    assert.equal((await client.reader.readToEnd()).text.length, left);
  });
});

describe('a client that sends slowly', () => {
  it('does not count as a backend timeout', async () => {
    await using rig = await startRig({ service: { read_timeout: 400 } });
    using client = await openClient(rig.port);
    client.write('POST /upload HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\n');
    for (let sent = 0; sent < 10; sent++) {
      await delay(120);
      client.write('x');
    }
    const response = await client.readResponse();
    assert.equal(response.status, 200);
    assert.equal(rig.backend.requests[0]?.body, 'xxxxxxxxxx');
  });

  it('keeps a tunnel open by only sending', async () => {
    await using rig = await startRig({
      script: byName({
        ws: async (connection) => {
          connection.write(
            'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
              'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
          );
          await connection.reader.readUntil('0123456789');
          connection.write('all');
          await once(connection.socket, 'close');
        },
      }),
      service: { read_timeout: 400 },
    });
    using client = await openClient(rig.port);
    client.write(
      get(
        '/ws',
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
      ),
    );
    await client.reader.readUntil('\r\n\r\n');
    for (const digit of '0123456789') {
      await delay(100);
      client.write(digit);
    }
    assert.equal(await client.reader.readSome(), 'all');
  });
});
