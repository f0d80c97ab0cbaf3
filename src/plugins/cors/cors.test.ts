import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { definePlugin, httpProtocols, refuse } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
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

test('has the defaults of Kong', async () => {
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

test('refuses an origin that is an invalid regular expression', async () => {
  for (const origin of ['*.example.com', '(', '[a']) {
    assert.deepEqual(await testPlugin(cors).check({ origins: [origin] }), {
      ok: false,
      message: `schema violation (config.origins: {\n  "'${origin}' is not a valid regex"\n})`,
    });
  }
});

test('refuses an expression that could take exponential time, or runs it in linear time', async () => {
  const evil = '(a+)+[.]example[.]com';
  if (!(await testPlugin(cors).check({ origins: [evil] })).ok) return;
  const started = cpuTime();
  assert.equal(await allowedOrigin([evil, 'x'], `https://${'a'.repeat(5000)}!`), null);
  assert.ok(cpuTime() - started < 1000);
});

test('refuses an unknown method', async () => {
  assert.deepEqual(await testPlugin(cors).check({ methods: ['BREW'] }), {
    ok: false,
    message:
      'schema violation (config.methods: {\n  "expected one of: GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS, TRACE, CONNECT"\n})',
  });
});

test('allows every origin without origins and with *, without Vary', async () => {
  for (const origins of [null, ['*']]) {
    const { response, upstream } = await plain({ origins });
    assert.notEqual(upstream, null);
    assert.equal(response.header('access-control-allow-origin'), '*');
    assert.equal(response.header('vary'), null);
    assert.equal(response.header('access-control-allow-credentials'), null);
  }
});

test('sends the header also without an Origin', async () => {
  assert.equal((await plain({}, null)).response.header('access-control-allow-origin'), '*');
});

test('always sends the only plain origin', async () => {
  const { response } = await plain({ origins: ['https://other.example.com'] });
  assert.equal(response.header('access-control-allow-origin'), 'https://other.example.com');
  assert.equal(response.header('vary'), 'Origin');
});

test('sends the requesting one of several plain origins, normalised', async () => {
  const origins = ['https://other.example.com', 'https://app.example.com:443', 'http://a.test:8080'];
  assert.equal(await allowedOrigin(origins), asking);
  assert.equal(await allowedOrigin(origins, 'https://app.example.com:443'), asking);
  assert.equal(await allowedOrigin(origins, 'http://a.test:8080'), 'http://a.test:8080');
});

test('sends no header to an unlisted origin, and removes the header of the backend', async () => {
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

test('allows every origin when * is among several origins', async () => {
  assert.equal(await allowedOrigin(['https://a.test', '*']), '*');
});

test('matches a regular expression without a colon against the whole host', async () => {
  const origins = ['(app|web)[.]example[.]com'];
  assert.equal(await allowedOrigin(origins), asking);
  assert.equal(await allowedOrigin(origins, 'http://web.example.com:8080'), 'http://web.example.com:8080');
  assert.equal(await allowedOrigin(origins, 'https://evil-app.example.com'), null);
  assert.equal(await allowedOrigin(origins, 'https://app.example.com.evil.test'), null);
});

test('matches a regular expression with a colon against the whole origin', async () => {
  const origins = ['https://[a-z]+[.]example[.]com'];
  assert.equal(await allowedOrigin(origins), asking);
  assert.equal(await allowedOrigin(origins, 'http://app.example.com'), null);
  assert.equal(await allowedOrigin(origins, 'https://app.example.com.evil.test'), null);
  assert.equal(await allowedOrigin(origins, 'https://app.example.com:8443'), null);
});

test('matches a regular expression with anchors the same way', async () => {
  assert.equal(await allowedOrigin(['^https://[a-z]+[.]example[.]com$']), asking);
});

test('anchors every alternative of a regular expression at both ends', async () => {
  const origins = ['https://a[.]test|https://b[.]test'];
  assert.equal(await allowedOrigin(origins, 'https://b.test'), 'https://b.test');
  assert.equal(await allowedOrigin(origins, 'https://a.test.evil.test'), null);
  assert.equal(await allowedOrigin(origins, 'https://x.https://b.test'), null);
});

test('does not read the user part of an origin as its host', async () => {
  assert.equal(await allowedOrigin(['app[.]example[.]com'], 'https://app.example.com@evil.test'), null);
});

test('sends the requesting origin with credentials and all origins', async () => {
  const { response } = await plain({ credentials: true });
  assert.equal(response.header('access-control-allow-origin'), asking);
  assert.equal(response.header('access-control-allow-credentials'), 'true');
  assert.equal(response.header('vary'), 'Origin');
});

test('sends * with credentials and all origins but without an Origin', async () => {
  const { response } = await plain({ credentials: true }, null);
  assert.equal(response.header('access-control-allow-origin'), '*');
  assert.equal(response.header('access-control-allow-credentials'), null);
});

test('sends credentials with named origins', async () => {
  const { response } = await plain({ credentials: true, origins: [asking, 'https://b.test'] });
  assert.equal(response.header('access-control-allow-origin'), asking);
  assert.equal(response.header('access-control-allow-credentials'), 'true');
});

test('sends exposed headers only on actual answers', async () => {
  const config = { exposed_headers: ['X-One', 'X-Two'] };
  assert.equal((await plain(config)).response.header('access-control-expose-headers'), 'X-One,X-Two');
  assert.equal((await preflight(config)).response.header('access-control-expose-headers'), null);
});

test('answers a preflight with 200 and an empty body, before the backend', async () => {
  const { response, upstream } = await preflight({}, { 'Access-Control-Request-Headers': 'X-A, X-B' });
  assert.equal(upstream, null);
  assert.deepEqual([response.status, response.body, response.source], [200, '', 'gateway']);
  assert.equal(response.header('access-control-allow-origin'), '*');
  assert.equal(response.header('access-control-allow-headers'), 'X-A, X-B');
  assert.equal(response.header('access-control-allow-methods'), 'GET,HEAD,PUT,PATCH,POST,DELETE,OPTIONS,TRACE,CONNECT');
  assert.equal(response.header('access-control-max-age'), null);
  assert.equal(response.header('access-control-allow-private-network'), null);
});

test('answers a preflight with the configured headers, methods and age', async () => {
  const config = { headers: ['X-A', 'X-B'], methods: ['GET', 'PUT'], max_age: 3600, credentials: true };
  const { response } = await preflight(config, { 'Access-Control-Request-Headers': 'X-Other' });
  assert.equal(response.header('access-control-allow-headers'), 'X-A,X-B');
  assert.equal(response.header('access-control-allow-methods'), 'GET,PUT');
  assert.equal(response.header('access-control-max-age'), '3600');
  assert.equal(response.header('access-control-allow-credentials'), 'true');
  assert.equal(response.header('access-control-allow-origin'), asking);
  assert.deepEqual(response.headers['vary'], ['Origin']);
});

test('allows a private network if configured and requested', async () => {
  const asked = { 'Access-Control-Request-Private-Network': 'true' };
  const header = 'access-control-allow-private-network';
  assert.equal((await preflight({ private_network: true }, asked)).response.header(header), 'true');
  assert.equal((await preflight({ private_network: true })).response.header(header), null);
  assert.equal((await preflight({}, asked)).response.header(header), null);
});

test('forwards an OPTIONS request that is not a preflight', async () => {
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

test('adds the headers to refusals of other plugins, so that scripts can read them', async () => {
  const refuseAll = definePlugin({
    name: 'refuse-all',
    version: '1.0.0',
    priority: 1,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({ access: () => refuse(401, 'Unauthorized') }),
  });
  const plugin = testPlugin(cors, { otherPlugins: [{ plugin: refuseAll }] });
  const { response } = await plugin.request({ headers: { Origin: asking } });
  assert.equal(response.status, 401);
  assert.equal(response.header('access-control-allow-origin'), '*');
});
