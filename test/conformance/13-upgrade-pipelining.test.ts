import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 13: the gateway holds bytes that follow an Upgrade until the backend answers 101 (CVE-2026-2833). */
function upgrade(path: string): string {
  return (
    `GET ${path} HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  );
}
const behind = 'GET /behind HTTP/1.1\r\nHost: example.com\r\n\r\n';
const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n';

describe('bytes that follow an Upgrade request', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      script: byName({
        refused: (connection) => connection.write(answer('no upgrade')),
        forbidden: (connection) => connection.write(answer('no', '', '403 Forbidden')),
        behind: (connection, request) => connection.write(answer(`got ${request.target}`)),
        accepted: async (connection) => {
          connection.write(switching);
          const raw = await connection.reader.readExactly(4);
          connection.write(`echo:${raw}`);
          await connection.closed;
          connection.socket.destroy();
        },
        early: async (connection) => {
          connection.write(`${switching}first`);
          await connection.closed;
          connection.socket.destroy();
        },
        unasked: (connection) => connection.write(switching),
      }),
    });
  });
  after(() => rig.close());

  for (const path of ['/refused', '/forbidden']) {
    it(`are never sent raw to a backend that does not answer 101 (${path})`, async () => {
      using client = await openClient(rig.port);
      client.write(upgrade(path) + behind);
      const first = await client.readResponse();
      assert.notEqual(first.status, 101);
      const upgraded = rig.backend.requests.find((request) => request.target === path);
      assert.ok(upgraded);
      // Either the gateway parses the bytes as the next request, or the connection ends.
      if (first.get('connection')?.toLowerCase() === 'close') {
        assert.equal((await client.readToEnd()).text, '');
      } else {
        assert.equal((await client.readResponse()).body, 'got /behind');
        const seen = rig.backend.requests.filter((request) => request.target === '/behind').at(-1);
        assert.ok(seen?.get('x-kong-request-id') ?? seen?.get('x-forwarded-for'), 'not made by the gateway');
      }
      assert.deepEqual(rig.backend.scriptErrors, []);
    });
  }

  it('are the first bytes of the new protocol after 101', async () => {
    using client = await openClient(rig.port);
    client.write(`${upgrade('/accepted')}ping`);
    const response = await client.readResponse();
    assert.equal(response.status, 101);
    assert.equal(response.get('upgrade'), 'websocket');
    assert.equal(await client.reader.readExactly(9), 'echo:ping');
  });

  it('from the backend, sent together with its 101, reach the client', async () => {
    using client = await openClient(rig.port);
    client.write(upgrade('/early'));
    assert.equal((await client.readResponse()).status, 101);
    assert.equal(await client.reader.readExactly(5), 'first');
  });

  it('cause a 502 when the backend sends an unrequested 101', async () => {
    using client = await openClient(rig.port);
    client.write('GET /unasked HTTP/1.1\r\nHost: example.com\r\n\r\n');
    const response = await client.readResponse();
    assert.equal(response.status, 502);
  });

  it('are not parsed as requests when they are the body of the Upgrade request', async () => {
    using client = await openClient(rig.port);
    const head = upgrade('/refused')
      .replace('GET', 'POST')
      .replace('\r\n\r\n', `\r\nContent-Length: ${behind.length}\r\n\r\n`);
    client.write(head + behind);
    const response = await client.readResponse();
    assert.ok(response.status === 200 || response.status === 400, `status ${response.status}`);
    const count = rig.backend.requests.filter((request) => request.target === '/behind').length;
    client.close();
    assert.ok(count <= 2, 'the body was read as a request');
  });
});
