import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openClient } from '../support/raw-client.ts';
import { type Rig, residentMemory, startRig } from '../support/rig.ts';

const megabyte = 2 ** 20;

/** Case 28, bodies: a plugin collects at most its cap, and streamed bodies are not collected. */
describe('bodies that are too large', () => {
  let rig: Rig;
  let seen = Promise.withResolvers<void>();
  before(async () => {
    rig = await startRig({
      script: async (connection) => {
        for (;;) {
          const { target } = await connection.readRequest();
          if (target === '/xml/bomb') {
            const bomb = gzipSync(
              Buffer.concat([Buffer.from('<a>'), Buffer.alloc(64 * megabyte, ' '), Buffer.from('</a>')]),
            );
            const lines = `Content-Type: application/xml\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.byteLength}`;
            connection.write(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`);
            connection.write(bomb);
          } else if (target === '/xml/large') {
            connection.write('HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 104857600\r\n\r\n');
            for (let piece = 0; piece < 100 && connection.socket.writable; piece++) {
              if (!connection.socket.write(Buffer.alloc(megabyte, ' '))) {
                await Promise.race([once(connection.socket, 'drain'), connection.closed]);
              }
            }
          } else if (target === '/events') {
            connection.write(
              'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
            );
            for (let event = 0; event < 5; event++) {
              connection.write('6\r\ndata: \r\n');
              await seen.promise;
              seen = Promise.withResolvers();
            }
            connection.write('0\r\n\r\n');
          } else connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        }
      },
    });
    await rig.write('PUT', '/services/backend/routes/xml', { paths: ['/xml'], strip_path: false });
    await rig.write('POST', '/routes/xml/plugins', {
      name: 'xml-json',
      config: { backend: 'xml', client: 'json', max_body_size: megabyte },
    });
    await rig.write('POST', '/plugins', {
      name: 'compression',
      config: { content_types: ['text/*', 'application/*'] },
    });
  });
  after(() => rig.close());

  it('are refused by their declared length, before they are read', async () => {
    using client = await openClient(rig.port);
    client.write(
      'POST /xml HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n{"a":1',
    );
    assert.equal((await client.readResponse()).status, 413);
  });

  it('are refused when they exceed the cap while being read', async () => {
    const memoryBefore = residentMemory();
    using client = await openClient(rig.port);
    client.write(
      'POST /xml HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const chunk = Buffer.from(`100000\r\n${' '.repeat(megabyte)}\r\n`);
    const answered = client.readResponse();
    for (let sent = 0; sent < 100 && client.reader.received === '' && client.reader.ended === null; sent++) {
      await Promise.race([client.send(chunk), answered]);
    }
    assert.equal((await answered).status, 413);
    assert.ok(residentMemory() - memoryBefore < 64 * megabyte, 'memory stays flat');
  });

  it('are refused when they exceed the cap after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * megabyte, ' '));
    const memoryBefore = residentMemory();
    using client = await openClient(rig.port);
    const lines = `Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.byteLength}`;
    client.write(`POST /xml HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`);
    client.write(bomb);
    assert.equal((await client.readResponse()).status, 413);
    assert.ok(residentMemory() - memoryBefore < 64 * megabyte, 'memory stays flat');
  });

  for (const what of ['bomb', 'large']) {
    it(`cause a 502 when the backend sends them: ${what}`, async () => {
      const memoryBefore = residentMemory();
      using client = await openClient(rig.port);
      client.write(`GET /xml/${what} HTTP/1.1\r\nHost: a\r\n\r\n`);
      assert.equal((await client.readResponse()).status, 502);
      assert.ok(residentMemory() - memoryBefore < 64 * megabyte, 'memory stays flat');
    });
  }

  it('are streamed where no plugin collects them, such as events without a line break', async () => {
    using client = await openClient(rig.port);
    client.write('GET /events HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n');
    const head = await client.reader.readUntil('\r\n\r\n');
    assert.match(head, /Content-Encoding: gzip/i);
    // The backend sends the next one only when the client has the last one.
    for (let event = 0; event < 5; event++) {
      assert.notEqual(await client.reader.readSome(), '');
      seen.resolve();
    }
    await client.reader.readUntil('\r\n0\r\n\r\n');
  });
});
