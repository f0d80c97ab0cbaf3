import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, answerEach } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, residentMemory, startRig } from '../support/rig.ts';

/** Case 10: pipelined requests are separate, in order, and bounded. */
function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: example.com\r\n\r\n`;
}

describe('pipelined requests', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ script: answerEach((request) => answer(request.target)) });
  });
  after(() => rig.close());

  it('are answered in order: 1,000 in one write, with flat memory', async () => {
    const grown = async (): Promise<number> => {
      const memoryBefore = residentMemory();
      using client = await openClient(rig.port);
      client.write(Array.from({ length: 1000 }, (_, index) => get(`/pipelined/${index}`)).join(''));
      for (let index = 0; index < 1000; index++) {
        const response = await client.readResponse();
        assert.equal(response.status, 200);
        assert.equal(response.body, `/pipelined/${index}`);
      }
      return residentMemory() - memoryBefore;
    };
    // The first round is compiled and, next to a gateway that was just started, not alone in the process.
    await grown();
    const growth = Math.min(await grown(), await grown());
    assert.ok(growth < 64 * 1024 * 1024, `grew by ${growth} bytes`);
  });

  it('with bodies are separated correctly', async () => {
    using client = await openClient(rig.port);
    let bytes = '';
    for (let index = 0; index < 50; index++) {
      bytes += `POST /length/${index} HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n${get('/inside').padEnd(40, '.').slice(0, 40)}`;
      bytes += `POST /chunk/${index} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\r\n\r\r\n0\r\n\r\n`;
      bytes += get(`/none/${index}`);
    }
    client.write(bytes);
    for (let index = 0; index < 50; index++) {
      for (const kind of ['length', 'chunk', 'none']) {
        assert.equal((await client.readResponse()).body, `/${kind}/${index}`);
      }
    }
    assert.equal(rig.backend.requests.filter((request) => request.target === '/inside').length, 0);
  });

  it('whose second is malformed get the first answer, then 400, then a close', async () => {
    using client = await openClient(rig.port);
    client.write(`${get('/good')}GET /bad HTTP/1.1\r\nHost : a\r\n\r\n${get('/never')}`);
    assert.equal((await client.readResponse()).body, '/good');
    const refused = await client.readResponse();
    assert.equal(refused.status, 400);
    assert.equal(refused.get('connection')?.toLowerCase(), 'close');
    assert.equal((await client.readToEnd()).text, '');
    assert.ok(!rig.backend.requests.some((request) => request.target === '/never' || request.target === '/bad'));
  });

  it('end at the one that asks to close', async () => {
    using client = await openClient(rig.port);
    client.write(`GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n${get('/ignored')}`);
    assert.equal((await client.readResponse()).body, '/last');
    assert.equal((await client.readToEnd()).text, '');
    assert.ok(!rig.backend.requests.some((request) => request.target === '/ignored'));
  });

  it('on HTTP/1.0 without keep-alive end after the first', async () => {
    using client = await openClient(rig.port);
    client.write(`GET /old HTTP/1.0\r\nHost: a\r\n\r\n${get('/after-old')}`);
    const { text } = await client.readToEnd();
    assert.match(text, /\/old$/);
    assert.ok(!rig.backend.requests.some((request) => request.target === '/after-old'));
  });

  it('are no longer read while the client does not read the answers', async () => {
    using client = await openClient(rig.port);
    const memoryBefore = residentMemory();
    client.reader.pause();
    // 20 MB of requests: the gateway must stop reading them long before it has them all.
    const flood = Buffer.from(get(`/flood?${'x'.repeat(2000)}`).repeat(1000), 'latin1');
    for (let count = 0; count < 10; count++) client.write(flood);
    const accepted = await drainedBytes(client);
    const grown = residentMemory() - memoryBefore;
    assert.ok(grown < 96 * 1024 * 1024, `grew by ${grown} bytes after reading ${accepted}`);
  });
});

/** Waits until the peer takes no more bytes for half a second; returns how many it took. */
async function drainedBytes(client: { readonly socket: import('node:net').Socket }): Promise<number> {
  let before = -1;
  let taken = client.socket.bytesWritten - client.socket.writableLength;
  while (taken !== before) {
    before = taken;
    await new Promise((resolve) => setTimeout(resolve, 500));
    taken = client.socket.bytesWritten - client.socket.writableLength;
  }
  return taken;
}
