import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { RawResponse } from '../support/http-message.ts';
import { http2Settings } from '../support/http2-rig.ts';
import { replyBytes } from '../support/plugins/meddler.ts';
import { exchangeThrough, type ProxyEndpoint, proxyEndpoints } from '../support/proxy-endpoints.ts';
import { answer, byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

const meddler = join(import.meta.dirname, '../support/plugins/meddler.ts');

/** `/plain` of the backend answers `plain`. */
let rig: Rig;
before(async () => {
  rig = await startRig({
    script: byName({
      plain: (connection, { method }) => {
        const whole = answer('plain');
        connection.write(method === 'HEAD' ? whole.slice(0, -'plain'.length) : whole);
      },
      unchanged: (connection) => connection.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 700\r\n\r\n'),
    }),
    settings: { ...http2Settings(), plugins: ['bundled', meddler] },
  });
});
after(() => rig?.close());

const plugin = '/plugins/3b5f1a52-0c1e-4e37-9d0a-7f2f6c1b8e11';

/** From now on the plugin changes every request in this way. */
async function meddle(does: string): Promise<void> {
  await rig.write('PUT', plugin, { name: 'meddler', config: { does } });
}

const request = (method: string, path: string, headers = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a.test\r\n${headers}\r\n`;

/** Two requests at once: if the end of the first answer were wrong, the second could not be read. */
async function askTwice(endpoint: ProxyEndpoint, rig: Rig, method: string, path: string): Promise<RawResponse> {
  const [first, second] =
    endpoint === 'HTTP/1.1' ? await pipelined(rig, method, path) : await parallel(endpoint, rig, method, path);
  assert.equal(second.status, first.status);
  assert.equal(second.body.length, first.body.length);
  return first;
}

type Two = readonly [RawResponse, RawResponse];

async function pipelined(rig: Rig, method: string, path: string): Promise<Two> {
  using client = await openClient(rig.port);
  client.write(request(method, path) + request(method, path));
  return [await client.readResponse(method, 2_000), await client.readResponse(method, 2_000)];
}

async function parallel(endpoint: ProxyEndpoint, rig: Rig, method: string, path: string): Promise<Two> {
  const ask = (): Promise<RawResponse> => exchangeThrough(endpoint, rig.gateway, request(method, path));
  const both = await Promise.all([ask(), ask()]);
  for (const { complete } of both) assert.equal(complete, true);
  return both;
}

for (const endpoint of proxyEndpoints)
  describe(`an answer over ${endpoint} is framed for the method and status of the client`, () => {
    it('when a plugin sends HEAD to the backend', async () => {
      await meddle('ask-head');
      const { status, body } = await askTwice(endpoint, rig, 'GET', '/plain');
      assert.deepEqual([status, body], [200, '']);
    });

    it('when a plugin gives a body to an answer without one', async () => {
      await meddle('say-ok');
      const { status, body } = await askTwice(endpoint, rig, 'GET', '/unchanged');
      assert.deepEqual([status, body], [200, '']);
    });

    it('when a plugin removes the body of an answer', async () => {
      await meddle('say-no-content');
      const { status, lines } = await askTwice(endpoint, rig, 'GET', '/plain');
      assert.equal(status, 204);
      assert.equal(
        lines.find(([name]) => name.toLowerCase() === 'content-length'),
        undefined,
      );
    });

    // The plugin might change the body of a GET, so its length is unknown (RFC 9110 8.6).
    it('when a plugin collects answers that declare a length but have no body', async () => {
      await meddle('buffer');
      assert.equal((await askTwice(endpoint, rig, 'GET', '/plain')).body, 'plain');
      assert.equal((await askTwice(endpoint, rig, 'HEAD', '/plain')).get('Content-Length'), undefined);
      assert.equal((await askTwice(endpoint, rig, 'GET', '/unchanged')).get('Content-Length'), undefined);
    });

    it('when a plugin replies with an informational status', async () => {
      await meddle('reply-100');
      assert.equal((await askTwice(endpoint, rig, 'GET', '/plain')).status, 500);
    });
  });

for (const endpoint of proxyEndpoints)
  describe(`a plugin, with a client over ${endpoint},`, () => {
    it('that fails on a body fails only that request', async () => {
      await meddle('fail-body');
      assert.equal((await exchangeThrough(endpoint, rig.gateway, request('GET', '/plain'))).status, 500);
      await rig.write('DELETE', plugin);
      assert.equal((await exchangeThrough(endpoint, rig.gateway, request('GET', '/plain'))).body, 'plain');
    });

    it('can request the body twice at once', async () => {
      await meddle('read-twice');
      const bytes = `${request('POST', '/plain', 'Content-Length: 10\r\n')}0123456789`;
      assert.equal((await exchangeThrough(endpoint, rig.gateway, bytes)).body, '10 10');
    });
  });

describe('an answer after which the connection closes', () => {
  it('reaches a slow client complete, also if the client has closed its side', async () => {
    await meddle('reply-large');
    using client = await openClient(rig.port);
    client.write(request('GET', '/', 'Connection: close\r\n'));
    const head = await client.reader.readUntil('\r\n\r\n');
    assert.match(head, /Connection: close/);
    client.reader.pause();
    client.end();
    await delay(3_000);
    client.reader.resume();
    assert.equal((await client.readToEnd()).text.length, replyBytes);
  });
});
