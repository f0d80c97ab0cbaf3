import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Stream } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { type Http2Client, openHttp2, readAnswer } from '../support/http2-client.ts';
import { Code } from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, type BackendConnection, byName } from '../support/raw-backend.ts';
import { residentMemory } from '../support/rig.ts';
import { until } from '../support/until.ts';

const post = { ':method': 'POST' };

/** What both engines guarantee for bodies, over HTTP/2. */
describe('HTTP/2 streams', () => {
  let rig: Http2Rig;
  let client: Http2Client;
  let endless: BackendConnection | null = null;
  let stalled: BackendConnection | null = null;
  before(async () => {
    rig = await startHttp2Rig({
      settings: { clientBodyTimeout: 1_000, clientMaxBodySize: 10_000_000 },
      script: async (connection) => {
        const head = await connection.readRequestHead();
        const name = /^\S+ \/([^/? ]*)/.exec(head.startLine)?.[1] ?? '';
        if (name === 'stalled') {
          stalled = connection;
          connection.socket.pause();
          await connection.closed;
        } else if (name === 'endless') {
          endless = connection;
          connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
          const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'x'), Buffer.from('\r\n')]);
          while (!connection.socket.destroyed && connection.socket.writable) {
            if (!connection.socket.write(piece)) await once(connection.socket, 'drain').catch(() => {});
          }
        } else if (name === 'events') {
          connection.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: one\n\n');
          await connection.reader.readUntil('never').catch(() => {});
        } else if (name === 'early') {
          connection.write(answer('no need', 'Connection: close\r\n', '403 Forbidden'));
          await connection.closed;
          connection.socket.destroy();
        } else if (name === 'wait') await connection.closed;
        else connection.write(answer('ok', 'Connection: close\r\n'));
      },
    });
    client = await openHttp2(rig.port);
  });
  after(async () => {
    await client.close();
    await rig.close();
  });

  it('that a client cancels are cancelled at the backend', async () => {
    const stream = client.open('/wait', {}, true);
    await until(() => rig.backend.received.includes('/wait'));
    const connection = rig.backend.connections.find(({ received }) => received.includes('/wait'));
    stream.close(Code.cancel);
    await connection?.closed;
    assert.equal((await client.request('/ok')).status, 200);
  });

  it('of a client that disconnects are cancelled at the backend', async () => {
    const other = await openHttp2(rig.port);
    other.open('/wait/gone', {}, true);
    await until(() => rig.backend.received.includes('/wait/gone'));
    const connection = rig.backend.connections.find(({ received }) => received.includes('/wait/gone'));
    other.session.socket.destroy();
    await connection?.closed;
  });

  it('deliver each event when it is sent', async () => {
    const stream = client.open('/events', {}, true);
    const [piece] = (await once(stream, 'data')) as [Buffer];
    assert.equal(String(piece), 'data: one\n\n');
    stream.close(Code.cancel);
  });

  it('end without an error when the answer precedes the body', async () => {
    for (const path of ['/early', '/events']) {
      const stream = client.open(path, post);
      const got = await Promise.race([readAnswer(stream), once(stream, 'response')]);
      assert.ok(got);
      stream.close();
    }
    const refused = client.open('/early/large', post);
    refused.write(Buffer.alloc(1_000_000));
    const got = await readAnswer(refused);
    assert.equal(got.status, 403);
    assert.equal(String(got.body), 'no need');
    assert.equal(got.code, Code.noError);
  });

  it('get 413 when the body is larger than allowed', async () => {
    const declared = await readAnswer(client.open('/wait/declared', { ...post, 'content-length': 20_000_000 }));
    assert.equal(declared.status, 413);
    const stream = client.open('/wait/undeclared', post);
    const got = readAnswer(stream);
    await pour(stream, 12_000_000);
    assert.equal((await got).status, 413);
  });

  it('get 408 when the body stalls', async () => {
    const stream = client.open('/wait/body', post);
    stream.write('a beginning');
    const got = await readAnswer(stream);
    assert.equal(got.status, 408);
    assert.equal(got.code, Code.noError);
  });

  it('on which both sides send are not ended by the body timeout', async () => {
    const stream = client.open('/events/talk', post);
    stream.write('hello');
    await once(stream, 'response');
    let closed = false;
    stream.once('close', () => {
      closed = true;
    });
    // Longer than a request body may pause before it is answered.
    await Promise.race([once(stream, 'close'), new Promise((resolve) => setTimeout(resolve, 1_500))]);
    assert.equal(closed, false);
    stream.close(Code.cancel);
  });

  it('stop the client when the backend does not read', async () => {
    const other = await openHttp2(rig.port);
    const stream = other.open('/stalled', post);
    let taken = 0;
    const write = (): void => {
      while (stream.write(Buffer.alloc(65_536), () => (taken += 65_536)) && !stream.destroyed);
    };
    stream.on('drain', write);
    write();
    await until(() => stalled !== null);
    const memory = residentMemory();
    await settled(() => taken);
    // Kernel buffers between gateway and backend hold an unknown amount.
    assert.ok(taken < 9_000_000, `${taken} bytes were taken`);
    assert.ok(residentMemory() - memory < 48 * 1024 * 1024);
    assert.equal((await client.request('/ok')).status, 200);
    await other.close();
  });

  it('stop the backend when the client does not read', async () => {
    const memory = residentMemory();
    const stream = client.open('/endless', {}, true);
    await once(stream, 'response');
    stream.pause();
    await until(() => endless !== null);
    const socket = (endless as BackendConnection | null)?.socket;
    await settled(() => (socket === undefined ? 0 : socket.bytesWritten));
    assert.ok(residentMemory() - memory < 64 * 1024 * 1024);
    assert.equal((await client.request('/ok')).status, 200);
    stream.close(Code.cancel);
  });
});

/** Writes this many bytes, as fast as they are accepted. */
async function pour(stream: ClientHttp2Stream, size: number): Promise<void> {
  for (let left = size; left > 0 && !stream.destroyed && !stream.closed; left -= 65_536) {
    if (stream.write(Buffer.alloc(65_536))) continue;
    await Promise.race([once(stream, 'drain'), once(stream, 'close')]).catch(() => {});
  }
  if (!stream.destroyed) stream.end();
}

/** Waits until the value no longer changes. */
async function settled(value: () => number): Promise<void> {
  let last = -1;
  let same = 0;
  await until(() => {
    same = value() === last ? same + 1 : 0;
    last = value();
    return same >= 20;
  });
}

/** RFC 8441: the gateway checks the backend's side of the handshake, because the client cannot. */
describe('a WebSocket over HTTP/2', () => {
  let rig: Http2Rig;
  before(async () => {
    const upgraded = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
    rig = await startHttp2Rig({
      script: byName({
        wrong: (connection) =>
          connection.write(`${upgraded}Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n`),
        missing: (connection) => connection.write(`${upgraded}\r\n`),
        ordinary: (connection) => connection.write(answer('no socket here')),
        forbidden: (connection) => connection.write(answer('not you', '', '403 Forbidden')),
      }),
    });
  });
  after(() => rig.close());

  for (const [path, status] of [
    ['/wrong', 502],
    ['/missing', 502],
    ['/ordinary', 502],
    ['/forbidden', 403],
  ] as const) {
    it(`is not opened by an answer that is not a handshake (${path})`, async () => {
      await using client = await openHttp2(rig.port);
      if (!client.session.remoteSettings.enableConnectProtocol) await once(client.session, 'remoteSettings');
      const stream = client.session.request({
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':path': path,
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      });
      assert.equal((await readAnswer(stream)).status, status);
      const seen = rig.backend.requests.find((request) => request.target === path);
      assert.equal(seen?.startLine, `GET ${path} HTTP/1.1`);
      assert.notEqual(seen?.get('sec-websocket-key'), 'dGhlIHNhbXBsZSBub25jZQ==');
    });
  }
});
