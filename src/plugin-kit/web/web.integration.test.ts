import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openHttp2 } from '../../../test/support/http2-client.ts';
import { type Http2Rig, startHttp2Rig } from '../../../test/support/http2-rig.ts';
import { openClient } from '../../../test/support/raw-client.ts';

const plugin = join(import.meta.dirname, '../../../test/support/plugins/web-handler.ts');
let rig: Http2Rig;

before(async () => {
  rig = await startHttp2Rig({ env: { KONG_PLUGINS: `bundled,${plugin}` } });
  await rig.write('POST', '/plugins', { name: 'web-handler' });
});
after(() => rig.close());

interface Seen {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

test('every byte that a header value can have reaches the handler, and every other one is refused', async () => {
  for (let byte = 0; byte < 256; byte++) {
    using client = await openClient(rig.port);
    const value = `a${String.fromCharCode(byte)}b`;
    client.write(`GET / HTTP/1.1\r\nHost: web.test\r\nX-Byte: ${value}\r\nConnection: close\r\n\r\n`);
    const { status, body } = await client.readResponse();
    const isControl = (byte < 32 && byte !== 9) || byte === 127;
    assert.equal(status, isControl ? 400 : 200, `byte ${byte}`);
    if (isControl) continue;
    const seen = JSON.parse(Buffer.from(body, 'latin1').toString()) as Seen;
    assert.equal(new Map(seen.headers).get('x-byte'), value, `byte ${byte}`);
  }
});

test('a request of HTTP/2 has the same view', async () => {
  await using client = await openHttp2(rig.port);
  const headers = { ':method': 'POST', 'x-a': ['1', '2'], cookie: 'c=1' };
  const { status, body, headers: sent } = await client.request('/a%20b?c=%20', { headers, body: 'text' });
  const seen = JSON.parse(body.toString()) as Seen;
  assert.deepEqual([status, seen.method, seen.body], [200, 'POST', 'text']);
  assert.equal(seen.url, `http://127.0.0.1:${rig.port}/a%20b?c=%20`);
  assert.deepEqual([new Map(seen.headers).get('x-a'), new Map(seen.headers).get('cookie')], ['1, 2', 'c=1']);
  assert.deepEqual(sent['set-cookie'], ['a=1', 'b=2']);
});

test('the gateway frames what the handler answers', async () => {
  using client = await openClient(rig.port);
  client.write('POST /x HTTP/1.1\r\nHost: web.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\n\r\n');
  const response = await client.readResponse();
  assert.equal((JSON.parse(response.body) as Seen).body, 'text');
  client.write('HEAD /x HTTP/1.1\r\nHost: web.test\r\n\r\n');
  assert.equal((await client.readResponse('HEAD')).body.length, 0);
  client.write('POST /x HTTP/1.1\r\nHost: web.test\r\nContent-Length: 10001\r\n\r\n');
  assert.equal((await client.readResponse()).status, 413);
});

test('a handler changes the response of the backend', async () => {
  const response = await fetch(`${rig.gateway.proxyUrl}/backend`);
  const body = await response.text();
  assert.deepEqual([response.status, response.headers.get('x-handled')], [200, `200 ${body.length}`]);
});
