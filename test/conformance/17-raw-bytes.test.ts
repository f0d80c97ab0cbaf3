import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { exchangeThrough, type ProxyEndpoint } from '../support/proxy-endpoints.ts';

/** Case 17: raw bytes in a target are percent-encoded once, before any component reads the target. */
const raw = '/caf\xc3\xa9/x?q=\xe2\x82\xac&r=\xff';
const encoded = '/caf%C3%A9/x?q=%E2%82%AC&r=%FF';

describe('raw bytes above 0x7f in a target', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({});
    await rig.write('PUT', '/services/backend/routes/cafe', { paths: ['/caf\u00e9'], strip_path: false });
    await rig.write('POST', '/routes/cafe/plugins', {
      name: 'request-transformer',
      config: { add: { headers: ['X-Matched:cafe'], querystring: ['s:\u00e9'] } },
    });
  });
  after(() => rig.close());

  for (const endpoint of ['HTTP/1.1', 'HTTP/2'] as const satisfies readonly ProxyEndpoint[]) {
    for (const [what, target] of [
      ['raw', raw],
      ['encoded', encoded],
    ] as const) {
      it(`are matched and forwarded encoded (${what}, ${endpoint})`, async () => {
        const before = rig.backend.requests.length;
        const response = await exchangeThrough(endpoint, rig.gateway, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
        assert.equal(response.status, 200);
        const seen = rig.backend.requests[before];
        assert.equal(seen?.get('x-matched'), 'cafe');
        assert.match(seen?.target ?? '', /^\/caf%C3%A9\/x\?q=%E2%82%AC&r=%FF&s=%C3%A9$/);
        assert.equal(seen?.get('x-forwarded-path'), '/caf%C3%A9/x');
        assert.doesNotMatch(seen?.raw ?? '', /[\x80-\xff]/);
      });
    }
  }

  it('are forwarded encoded in absolute-form', async () => {
    const before = rig.backend.requests.length;
    const request = `GET http://a${raw} HTTP/1.1\r\nHost: a\r\n\r\n`;
    assert.equal((await exchangeThrough('HTTP/1.1', rig.gateway, request)).status, 200);
    assert.match(rig.backend.requests[before]?.target ?? '', /^\/caf%C3%A9\/x\?q=%E2%82%AC&r=%FF&/);
  });
});
