import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestBackend, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import responseHeaders from './index.ts';
import { leaks } from './presets.ts';

type Config = Readonly<Record<string, unknown>>;

async function send(config: Config, backend: TestBackend = {}, request: TestRequest = {}) {
  const { response } = await testPlugin(responseHeaders, { config }).request({ ...request, backend });
  return response;
}

const https: TestRequest = { scheme: 'https' };

test('has defaults', async () => {
  assert.deepEqual(await testPlugin(responseHeaders).check({}), {
    ok: true,
    config: {
      preset: 'api',
      headers: {},
      omit: [],
      when: 'absent',
      hsts: { enabled: true, max_age: 31_536_000, include_subdomains: true, preload: false },
      remove: leaks,
    },
  });
});

test('refuses headers that cannot be set', async () => {
  const bad = [
    { preset: 'lax' },
    { headers: { 'Content-Length': '1' } },
    { headers: { 'a b': '1' } },
    { headers: { 'X-A': 'a\r\nX-B: b' } },
    { omit: ['a b'] },
    { hsts: { max_age: -1 } },
  ];
  for (const config of bad) {
    assert.equal((await testPlugin(responseHeaders).check(config)).ok, false, JSON.stringify(config));
  }
});

test('forbids scripts, frames, sniffing and caching with the api preset', async () => {
  const { headers } = await send({});
  assert.deepEqual(headers['x-content-type-options'], ['nosniff']);
  assert.deepEqual(headers['x-frame-options'], ['DENY']);
  assert.deepEqual(headers['referrer-policy'], ['no-referrer']);
  assert.deepEqual(headers['cross-origin-resource-policy'], ['same-origin']);
  assert.deepEqual(headers['content-security-policy'], ["default-src 'none'; frame-ancestors 'none'"]);
  assert.deepEqual(headers['cache-control'], ['no-store']);
  assert.match(headers['permissions-policy']?.[0] ?? '', /camera=\(\)/);
  assert.equal(headers['cross-origin-embedder-policy'], undefined);
});

test('sets headers for pages with the strict preset', async () => {
  const { headers } = await send({ preset: 'strict' });
  assert.match(headers['content-security-policy']?.[0] ?? '', /default-src 'self'.*frame-ancestors 'none'/);
  assert.deepEqual(headers['cross-origin-opener-policy'], ['same-origin']);
  assert.deepEqual(headers['cross-origin-embedder-policy'], ['require-corp']);
  assert.equal(headers['cache-control'], undefined);
});

test('sends HSTS only over TLS, with every preset', async () => {
  const name = 'strict-transport-security';
  for (const preset of ['strict', 'api', 'none']) {
    assert.equal((await send({ preset })).header(name), null);
    assert.equal((await send({ preset }, {}, https)).header(name), 'max-age=31536000; includeSubDomains');
  }
  const hsts = { max_age: 300, include_subdomains: false, preload: true };
  assert.equal((await send({ hsts }, {}, https)).header(name), 'max-age=300; preload');
  assert.equal((await send({ hsts: { enabled: false } }, {}, https)).header(name), null);
  assert.equal((await send({ omit: ['strict-transport-security'] }, {}, https)).header(name), null);
  const own = { headers: { 'strict-transport-security': 'max-age=1' } };
  assert.equal((await send(own, {}, https)).header(name), 'max-age=1');
  assert.equal((await send(own)).header(name), null);
});

test('overrides, adds and omits headers', async () => {
  const { headers } = await send({
    headers: { 'x-frame-options': 'SAMEORIGIN', 'X-Own': 'yes' },
    omit: ['Permissions-Policy', 'cache-control'],
  });
  assert.deepEqual(headers['x-frame-options'], ['SAMEORIGIN']);
  assert.deepEqual(headers['x-own'], ['yes']);
  assert.equal(headers['permissions-policy'], undefined);
  assert.equal(headers['cache-control'], undefined);
});

test('keeps the header of the backend with absent, replaces it with always', async () => {
  const backend = { headers: { 'X-Frame-Options': ['SAMEORIGIN', 'x'], 'cache-control': 'max-age=60' } };
  const kept = await send({}, backend);
  assert.deepEqual(kept.headers['x-frame-options'], ['SAMEORIGIN', 'x']);
  assert.deepEqual(kept.headers['cache-control'], ['max-age=60']);
  const replaced = await send({ when: 'always' }, backend);
  assert.deepEqual(replaced.headers['x-frame-options'], ['DENY']);
  assert.deepEqual(replaced.headers['cache-control'], ['no-store']);
});

test('removes only headers that describe the backend software', async () => {
  const backend = {
    headers: { Server: 'Apache/2.4', 'x-powered-by': 'PHP/5', 'X-AspNet-Version': '4', 'X-Kept': '1' },
  };
  const { headers } = await send({ preset: 'none' }, backend);
  assert.deepEqual(headers['x-kept'], ['1']);
  for (const name of ['server', 'x-powered-by', 'x-aspnet-version']) assert.equal(headers[name], undefined, name);
  const own = await send({ preset: 'none', remove: ['X-Kept'] }, backend);
  assert.deepEqual([own.header('server'), own.header('x-kept')], ['Apache/2.4', null]);
});

test('adds headers to answers of the gateway', async () => {
  const response = await send({}, {}, { routed: false });
  assert.equal(response.status, 404);
  assert.equal(response.header('x-content-type-options'), 'nosniff');
});
