import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { http2Settings } from '../support/http2-rig.ts';
import { exchangeThrough, type ProxyEndpoint } from '../support/proxy-endpoints.ts';
import { byName } from '../support/raw-backend.ts';
import { type Rig, startRig } from '../support/rig.ts';

function get(path: string, lines = '', host = 'example.com'): string {
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n`;
}

const plainEndpoints: readonly ProxyEndpoint[] = ['HTTP/1.1', 'HTTP/2'];

for (const endpoint of plainEndpoints)
  describe(`errors of the gateway over ${endpoint}`, () => {
    let rig: Rig;
    before(async () => {
      rig = await startRig({
        settings: http2Settings(),
        route: { hosts: ['example.com'] },
        service: { read_timeout: 300 },
        script: byName({
          silent: (connection) => connection.closed,
          cut: (connection) => connection.end('HTTP/1.1 2'),
        }),
      });
      await rig.write('PUT', '/routes/nowhere', { paths: ['/no-service'], hosts: ['example.com'] });
      await rig.write('PUT', '/services/unknown', { url: 'http://no-such-host.invalid' });
      await rig.write('PUT', '/services/unknown/routes/unknown', { paths: ['/unknown-host'], hosts: ['example.com'] });
      await rig.write('PUT', '/upstreams/empty', {});
      await rig.write('PUT', '/services/empty', { host: 'empty' });
      await rig.write('PUT', '/services/empty/routes/empty', { paths: ['/no-target'], hosts: ['example.com'] });
      await rig.write('PUT', '/services/closed', { url: 'http://127.0.0.1:1', retries: 0 });
      await rig.write('PUT', '/services/closed/routes/closed', { paths: ['/refused'], hosts: ['example.com'] });
      await rig.write('PUT', '/services/closed/routes/secure', {
        paths: ['/secure'],
        hosts: ['example.com'],
        protocols: ['https'],
      });
    });
    after(() => rig.close());

    it('contain the request id, in the exact bytes that clients know', async () => {
      const response = await exchangeThrough(endpoint, rig.gateway, get('/', '', 'elsewhere.example'));
      assert.equal(response.status, 404);
      const id = response.get('x-kong-request-id');
      assert.match(id ?? '', /^[0-9a-f]{32}$/);
      assert.equal(response.body, `{\n  "message":"no Route matched with those values",\n  "request_id":"${id}"\n}`);
      assert.equal(response.get('content-type'), 'application/json; charset=utf-8');
      assert.match(response.get('server') ?? '', /^kong\/\d/);
      assert.match(response.get('x-kong-response-latency') ?? '', /^\d+$/);
      for (const absent of ['via', 'x-kong-upstream-latency', 'x-kong-proxy-latency']) {
        assert.equal(response.get(absent), undefined);
      }
    });

    const formats: Readonly<Record<string, readonly [type: string, body: RegExp]>> = {
      'application/json': ['application/json; charset=utf-8', /^\{\n {2}"message":"no Route/],
      '*/*': ['application/json; charset=utf-8', /^\{/],
      'application/*': ['application/json; charset=utf-8', /^\{/],
      'image/png': ['application/json; charset=utf-8', /^\{/],
      'text/html': [
        'text/html; charset=utf-8',
        /<p>no Route matched with those values\.<\/p>[\s\S]*<p>request_id: [0-9a-f]{32}<\/p>/,
      ],
      'text/plain': ['text/plain; charset=utf-8', /^no Route matched with those values\nrequest_id: [0-9a-f]{32}\n$/],
      'text/*': ['text/plain; charset=utf-8', /^no Route/],
      'application/xml': [
        'application/xml; charset=utf-8',
        /^<\?xml[\s\S]*<message>no Route matched with those values<\/message>[\s\S]*<requestid>[0-9a-f]{32}<\/requestid>/,
      ],
      'text/html;q=0.5, text/plain;q=0.9': ['text/plain; charset=utf-8', /^no Route/],
      'text/html;q=0.8, application/xml': ['application/xml; charset=utf-8', /^<\?xml/],
      'toString;q=1, text/html;q=0.1': ['text/html; charset=utf-8', /^</],
    };
    // Two names that every object has.
    for (const accept of [...Object.keys(formats), 'constructor', '__proto__']) {
      const [type, body] = (Object.hasOwn(formats, accept) ? formats[accept] : formats['*/*'])!;
      it(`have the format of Accept: ${accept}`, async () => {
        const response = await exchangeThrough(
          endpoint,
          rig.gateway,
          get('/', `Accept: ${accept}\r\n`, 'elsewhere.example'),
        );
        assert.equal(response.status, 404);
        assert.equal(response.get('content-type'), type);
        assert.match(response.body, body);
      });
    }

    const table: Readonly<Record<string, readonly [path: string, status: number, message: string]>> = {
      'a route without a service': ['/no-service', 503, 'no Service found with those values'],
      'a host that does not resolve': ['/unknown-host', 503, 'name resolution failed'],
      'an upstream without targets': ['/no-target', 503, 'failure to get a peer from the ring-balancer'],
      'a refused connection': ['/refused', 502, 'An invalid response was received from the upstream server'],
      'a cut answer': ['/cut', 502, 'An invalid response was received from the upstream server'],
      'a silent backend': ['/silent', 504, 'The upstream server is timing out'],
      'TLS only': ['/secure', 426, 'Please use HTTPS protocol'],
    };
    for (const [what, [path, status, message]] of Object.entries(table)) {
      it(`state the reason: ${what}`, async () => {
        const response = await exchangeThrough(endpoint, rig.gateway, get(path, 'Accept: application/json\r\n'));
        assert.equal(response.status, status);
        const body = JSON.parse(response.body) as { message: string; request_id: string };
        assert.equal(body.message, message);
        assert.equal(body.request_id, response.get('x-kong-request-id'));
      });
    }

    it('mention the upstream server only when one was contacted', async () => {
      const response = await exchangeThrough(endpoint, rig.gateway, get('/cut'));
      assert.match(response.get('via') ?? '', /kong/);
      assert.match(response.get('content-type') ?? '', /^text\/plain/);
    });

    it('require an upgrade on a route that is TLS only', async () => {
      const response = await exchangeThrough(endpoint, rig.gateway, get('/secure'));
      // HTTP/2 has no upgrade of a connection.
      assert.equal(response.get('upgrade'), endpoint === 'HTTP/2' ? undefined : 'TLS/1.2, HTTP/1.1');
      assert.equal(response.get('connection')?.toLowerCase(), endpoint === 'HTTP/2' ? undefined : 'upgrade');
    });
  });
