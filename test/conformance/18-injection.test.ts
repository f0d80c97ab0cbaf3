import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 18: no byte of a request starts a new line in what the gateway writes. */
const payloads: Readonly<Record<string, string>> = {
  'CRLF and a header': '%0d%0aX-Injected:%20yes',
  'LF and a header': '%0aX-Injected:%20yes',
  'CR and a header': '%0dX-Injected:%20yes',
  'a second request': '%20HTTP/1.1%0d%0aHost:%20a%0d%0a%0d%0aGET%20/injected',
  'a space and a version': '%20HTTP/1.0',
  'a NUL-free control byte': '%01%1f%7f',
  'an encoded line separator': '%e2%80%a8X-Injected:%20yes',
  'a character that becomes CR LF when cut to a byte': '%c4%8d%c4%8aX-Injected:%20yes',
};

describe('bytes that would end a line', { concurrency: 8 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ service: { path: '/base' } });
    await rig.write('PUT', '/services/backend/routes/stripped', { paths: ['/stripped'], strip_path: true });
    await rig.write('PUT', '/services/backend/routes/regex', { paths: ['~/regex/(?<rest>.*)/end'], strip_path: true });
    await rig.write('PUT', '/services/backend/routes/secure', {
      paths: ['/secure'],
      protocols: ['https'],
      https_redirect_status_code: 301,
    });
    await rig.write('POST', '/plugins', {
      name: 'correlation-id',
      config: { header_name: 'X-Correlation', generator: 'uuid', echo_downstream: true },
    });
  });
  after(() => rig.close());

  for (const [what, payload] of Object.entries(payloads)) {
    for (const make of [
      (marker: string) => `/plain/${payload}/${marker}`,
      (marker: string) => `/stripped${payload}/${marker}`,
      (marker: string) => `/regex/${payload}/end/${marker}`,
      (marker: string) => `/query?a=${payload}&${marker}`,
    ]) {
      const target = make(`m${Math.random().toString(36).slice(2)}`);
      it(`reach the backend encoded: ${what} in ${target.slice(0, 8)}`, async () => {
        const marker = /m[0-9a-z]+$/.exec(target)?.[0] as string;
        const response = await exchangeOne(rig.port, `GET ${target} HTTP/1.1\r\nHost: example.com\r\n\r\n`);
        assert.ok(response.status === 200 || response.status === 400, `status ${response.status}`);
        assert.equal(response.get('x-injected'), undefined);
        const seen = rig.backend.requests.filter((request) => request.raw.includes(marker));
        if (response.status === 400) {
          assert.equal(seen.length, 0);
          return;
        }
        assert.equal(seen.length, 1);
        const request = seen[0];
        assert.match(request?.startLine ?? '', /^GET [\x21-\x7e]+ HTTP\/1\.1$/);
        assert.equal(request?.get('x-injected'), undefined);
        for (const [name, value] of request?.lines ?? [])
          assert.doesNotMatch(`${name}: ${value}`, /[\x00-\x08\x0a-\x1f\x7f]/);
      });
    }

    it(`stay encoded in a redirect: ${what}`, async () => {
      const response = await exchangeOne(rig.port, `GET /secure/${payload} HTTP/1.1\r\nHost: example.com\r\n\r\n`);
      assert.ok(response.status === 301 || response.status === 400, `status ${response.status}`);
      assert.equal(response.get('x-injected'), undefined);
      if (response.status === 301) {
        assert.match(response.get('location') ?? '', /^https:\/\/example\.com\/secure\/[\x21-\x7e]*$/);
      }
    });
  }

  it('cause no request in addition to those of the tests', () => {
    assert.ok(!rig.backend.requests.some((request) => request.target.startsWith('/injected')));
    assert.deepEqual(rig.backend.scriptErrors, []);
  });
});
