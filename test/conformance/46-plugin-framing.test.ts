import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { exchangeThrough } from '../support/proxy-endpoints.ts';

/** Case 46: a plugin cannot frame a message twice, in any spelling of the header. */
const get = 'HTTP/1.1\r\nHost: a\r\n';
const framing = [
  'content-length',
  'content_length',
  'transfer-encoding',
  'transfer_encoding',
  'keep-alive',
  'upgrade',
  'trailer',
  'te',
];

describe('framing headers that a plugin sets', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({ settings: { plugins: [join(import.meta.dirname, '../support/plugins/framer.ts')] } });
    for (const does of ['request', 'answer', 'reply']) {
      await rig.write('PUT', `/services/backend/routes/${does}`, { paths: [`/${does}`], strip_path: false });
      await rig.write('POST', `/routes/${does}/plugins`, { name: 'framer', config: { does } });
    }
  });
  after(() => rig.close());

  for (const [what, message, length] of [
    ['with a length', `POST /request ${get}Content-Length: 5\r\n\r\nhello`, ['5']],
    ['without a body', `GET /request ${get}\r\n`, []],
    ['in chunks', `POST /request ${get}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, []],
  ] as const) {
    it(`do not reach the backend: a request ${what}`, async () => {
      const before = rig.backend.requests.length;
      assert.equal((await exchangeThrough('HTTP/1.1', rig.gateway, message)).status, 200);
      const seen = rig.backend.requests[before];
      assert.equal(seen?.get('x-kept'), '1');
      assert.deepEqual(seen?.all('content-length'), length);
      assert.deepEqual(seen?.all('transfer-encoding'), what === 'in chunks' ? ['chunked'] : []);
      assert.deepEqual(seen?.all('connection'), ['keep-alive']);
      assert.deepEqual(seen?.all('host').length, 1);
      for (const name of framing.slice(1).filter((name) => name !== 'transfer-encoding')) {
        assert.equal(seen?.get(name), undefined, name);
      }
    });
  }

  for (const path of ['/answer', '/reply']) {
    for (const endpoint of ['HTTP/1.1', 'HTTP/2'] as const) {
      it(`do not reach the client: ${path} (${endpoint})`, async () => {
        const response = await exchangeThrough(endpoint, rig.gateway, `GET ${path} ${get}\r\n`);
        assert.equal(response.status, 200);
        assert.equal(response.get('x-kept'), '1');
        assert.equal(response.complete, true);
        assert.deepEqual(response.all('content-length'), [String(response.body.length)]);
        for (const name of [...framing.slice(1), 'connection']) assert.equal(response.get(name), undefined, name);
      });
    }
  }
});
