import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, refuse } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-sdk/testing.ts';
import cors from './index.ts';

type Config = Readonly<Record<string, unknown>>;

const asking = 'https://app.example.com';

function plain(config: Config, origin: string | null = asking, backend = {}) {
  const headers = origin === null ? {} : { Origin: origin };
  return testPlugin(cors, { config }).request({ headers, backend });
}

function preflight(config: Config, headers: Readonly<Record<string, string>> = {}) {
  return testPlugin(cors, { config }).request({
    method: 'OPTIONS',
    headers: { Origin: asking, 'Access-Control-Request-Method': 'PUT', ...headers },
  });
}

async function allowedOrigin(origins: readonly string[], origin: string | null = asking): Promise<string | null> {
  return (await plain({ origins }, origin)).response.header('access-control-allow-origin');
}

test('the defaults are those of Kong', async () => {
  assert.deepEqual(await testPlugin(cors).check({}), {
    ok: true,
    config: {
      origins: null,
      headers: null,
      exposed_headers: null,
      methods: ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'],
      max_age: null,
      credentials: false,
      private_network: false,
      preflight_continue: false,
    },
  });
});

test('an origin that is no regular expression is refused', async () => {
  for (const origin of ['*.example.com', '(', '[a']) {
    assert.deepEqual(await testPlugin(cors).check({ origins: [origin] }), {
      ok: false,
      message: `schema violation (config.origins: {\n  "'${origin}' is not a valid regex"\n})`,
    });
  }
});

test('an expression that could take exponential time is refused or harmless', async () => {
  const evil = '(a+)+[.]example[.]com';
  if (!(await testPlugin(cors).check({ origins: [evil] })).ok) return;
  const started = performance.now();
  assert.equal(await allowedOrigin([evil, 'x'], `https://${'a'.repeat(5000)}!`), null);
  assert.ok(performance.now() - started < 1000);
});

test('an unknown method is refused', async () => {
  assert.deepEqual(await testPlugin(cors).check({ methods: ['BREW'] }), {
    ok: false,
    message:
      'schema violation (config.methods: {\n  "expected one of: GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS, TRACE, CONNECT"\n})',
  });
});

test('without origins, and with *, every origin may read, and caches need not care', async () => {
  for (const origins of [null, ['*']]) {
    const { response, upstream } = await plain({ origins });
    assert.notEqual(upstream, null);
    assert.equal(response.header('access-control-allow-origin'), '*');
    assert.equal(response.header('vary'), null);
    assert.equal(response.header('access-control-allow-credentials'), null);
  }
});

test('a request without an Origin has the header too', async () => {
  assert.equal((await plain({}, null)).response.header('access-control-allow-origin'), '*');
});

test('the only plain origin is named whoever asks', async () => {
  const { response } = await plain({ origins: ['https://other.example.com'] });
  assert.equal(response.header('access-control-allow-origin'), 'https://other.example.com');
  assert.equal(response.header('vary'), 'Origin');
});

test('of several plain origins the one that asks is named, in its normal form', async () => {
  const origins = ['https://other.example.com', 'https://app.example.com:443', 'http://a.test:8080'];
  assert.equal(await allowedOrigin(origins), asking);
  assert.equal(await allowedOrigin(origins, 'https://app.example.com:443'), asking);
  assert.equal(await allowedOrigin(origins, 'http://a.test:8080'), 'http://a.test:8080');
});

test('an origin that is not in the list gets no header, and the one of the backend is taken away', async () => {
  const origins = ['https://a.test', 'https://b.test'];
  const backend = { headers: { 'Access-Control-Allow-Origin': '*', Vary: 'Accept' } };
  const { response } = await plain({ origins }, asking, backend);
  assert.equal(response.header('access-control-allow-origin'), null);
  assert.deepEqual(response.headers['vary'], ['Accept', 'Origin']);
  assert.equal(await allowedOrigin(origins, null), null);
  assert.equal(await allowedOrigin(origins, 'https://a.test:8443'), null);
  assert.equal(await allowedOrigin(origins, 'http://a.test'), null);
  assert.equal(await allowedOrigin(origins, 'null'), null);
});

test('* among several origins lets every origin pass', async () => {
  assert.equal(await allowedOrigin(['https://a.test', '*']), '*');
});

test('a regular expression without a colon is compared with the whole host', async () => {
  const origins = ['(app|web)[.]example[.]com'];
  assert.equal(await allowedOrigin(origins), asking);
  assert.equal(await allowedOrigin(origins, 'http://web.example.com:8080'), 'http://web.example.com:8080');
  assert.equal(await allowedOrigin(origins, 'https://evil-app.example.com'), null);
  assert.equal(await allowedOrigin(origins, 'https://app.example.com.evil.test'), null);
});

test('a regular expression with a colon is compared with the whole origin', async () => {
  const origins = ['https://[a-z]+[.]example[.]com'];
  assert.equal(await allowedOrigin(origins), asking);
  assert.equal(await allowedOrigin(origins, 'http://app.example.com'), null);
  assert.equal(await allowedOrigin(origins, 'https://app.example.com.evil.test'), null);
  assert.equal(await allowedOrigin(origins, 'https://app.example.com:8443'), null);
});

test('a regular expression with its own anchors works the same', async () => {
  assert.equal(await allowedOrigin(['^https://[a-z]+[.]example[.]com$']), asking);
});

test('an alternative in a regular expression is anchored at both ends as well', async () => {
  const origins = ['https://a[.]test|https://b[.]test'];
  assert.equal(await allowedOrigin(origins, 'https://b.test'), 'https://b.test');
  assert.equal(await allowedOrigin(origins, 'https://a.test.evil.test'), null);
  assert.equal(await allowedOrigin(origins, 'https://x.https://b.test'), null);
});

test('the user part of an origin does not count as its host', async () => {
  assert.equal(await allowedOrigin(['app[.]example[.]com'], 'https://app.example.com@evil.test'), null);
});

test('credentials with all origins name the origin that asks', async () => {
  const { response } = await plain({ credentials: true });
  assert.equal(response.header('access-control-allow-origin'), asking);
  assert.equal(response.header('access-control-allow-credentials'), 'true');
  assert.equal(response.header('vary'), 'Origin');
});

test('credentials with all origins and no Origin keep the star', async () => {
  const { response } = await plain({ credentials: true }, null);
  assert.equal(response.header('access-control-allow-origin'), '*');
  assert.equal(response.header('access-control-allow-credentials'), null);
});

test('credentials with named origins', async () => {
  const { response } = await plain({ credentials: true, origins: [asking, 'https://b.test'] });
  assert.equal(response.header('access-control-allow-origin'), asking);
  assert.equal(response.header('access-control-allow-credentials'), 'true');
});

test('exposed headers are on plain answers only', async () => {
  const config = { exposed_headers: ['X-One', 'X-Two'] };
  assert.equal((await plain(config)).response.header('access-control-expose-headers'), 'X-One,X-Two');
  assert.equal((await preflight(config)).response.header('access-control-expose-headers'), null);
});

test('a preflight is answered with 200 and an empty body, and does not reach the backend', async () => {
  const { response, upstream } = await preflight({}, { 'Access-Control-Request-Headers': 'X-A, X-B' });
  assert.equal(upstream, null);
  assert.deepEqual([response.status, response.body, response.source], [200, '', 'gateway']);
  assert.equal(response.header('access-control-allow-origin'), '*');
  assert.equal(response.header('access-control-allow-headers'), 'X-A, X-B');
  assert.equal(response.header('access-control-allow-methods'), 'GET,HEAD,PUT,PATCH,POST,DELETE,OPTIONS,TRACE,CONNECT');
  assert.equal(response.header('access-control-max-age'), null);
  assert.equal(response.header('access-control-allow-private-network'), null);
});

test('a preflight has the configured headers, methods and age', async () => {
  const config = { headers: ['X-A', 'X-B'], methods: ['GET', 'PUT'], max_age: 3600, credentials: true };
  const { response } = await preflight(config, { 'Access-Control-Request-Headers': 'X-Other' });
  assert.equal(response.header('access-control-allow-headers'), 'X-A,X-B');
  assert.equal(response.header('access-control-allow-methods'), 'GET,PUT');
  assert.equal(response.header('access-control-max-age'), '3600');
  assert.equal(response.header('access-control-allow-credentials'), 'true');
  assert.equal(response.header('access-control-allow-origin'), asking);
  assert.deepEqual(response.headers['vary'], ['Origin']);
});

test('a private network is allowed when it is configured and asked for', async () => {
  const asked = { 'Access-Control-Request-Private-Network': 'true' };
  const header = 'access-control-allow-private-network';
  assert.equal((await preflight({ private_network: true }, asked)).response.header(header), 'true');
  assert.equal((await preflight({ private_network: true })).response.header(header), null);
  assert.equal((await preflight({}, asked)).response.header(header), null);
});

test('an OPTIONS request that is no preflight goes to the backend', async () => {
  const plugin = testPlugin(cors);
  const withoutMethod = await plugin.request({ method: 'OPTIONS', headers: { Origin: asking } });
  assert.notEqual(withoutMethod.upstream, null);
  assert.equal(withoutMethod.response.header('access-control-allow-origin'), '*');
  const withoutOrigin = await plugin.request({
    method: 'OPTIONS',
    headers: { 'Access-Control-Request-Method': 'GET' },
  });
  assert.notEqual(withoutOrigin.upstream, null);
});

test('preflight_continue leaves the preflight to the backend and adds nothing', async () => {
  const { response, upstream } = await preflight({ preflight_continue: true, origins: ['https://a.test', asking] });
  assert.notEqual(upstream, null);
  assert.equal(response.header('access-control-allow-origin'), null);
  assert.equal(response.header('vary'), null);
});

test('the refusal of another plugin has the headers, so that scripts can read it', async () => {
  const refuseAll = definePlugin({
    name: 'refuse-all',
    version: '1.0.0',
    priority: 1,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({ access: () => refuse(401, 'Unauthorized') }),
  });
  const plugin = testPlugin(cors, { beside: [{ plugin: refuseAll }] });
  const { response } = await plugin.request({ headers: { Origin: asking } });
  assert.equal(response.status, 401);
  assert.equal(response.header('access-control-allow-origin'), '*');
});
