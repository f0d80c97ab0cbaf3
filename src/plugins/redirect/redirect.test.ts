import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import redirect from './index.ts';

type Config = Readonly<Record<string, unknown>>;

async function send(config: Config, request: TestRequest = {}) {
  const { upstream, response } = await testPlugin(redirect, { config }).request(request);
  assert.equal(upstream, null);
  return response;
}

test('has the defaults of Kong', async () => {
  assert.deepEqual(await testPlugin(redirect).check({ location: 'https://example.com/a' }), {
    ok: true,
    config: { status_code: 301, location: 'https://example.com/a', keep_incoming_path: false },
  });
});

test('refuses an invalid location', async () => {
  const bad = [
    {},
    { location: '/path' },
    { location: '//evil.example' },
    { location: 'https://a\r\nSet-Cookie: x' },
    { location: 'https://a/ b' },
    { location: 'https://a/', status_code: 600 },
  ];
  for (const config of bad) {
    assert.equal((await testPlugin(redirect).check(config)).ok, false, JSON.stringify(config));
  }
});

test('answers with the location and a short body', async () => {
  const response = await send({ location: 'https://example.com/a?b=1', status_code: 308 }, { path: '/x?y=1' });
  assert.deepEqual(
    [response.status, response.header('location'), response.body],
    [308, 'https://example.com/a?b=1', 'redirecting'],
  );
});

test('appends path and query to the host of the location', async () => {
  const config = { location: 'https://example.com:8443/ignored?x=1', keep_incoming_path: true };
  const cases: readonly (readonly [string, string])[] = [
    ['/', '/'],
    ['/a/b?c=d&e=%20', '/a/b?c=d&e=%20'],
    ['/caf%C3%A9', '/caf%C3%A9'],
    ['//evil.example/a', '/evil.example/a'],
    ['///evil.example', '/evil.example'],
    ['/\\evil.example', '/evil.example'],
    ['/@evil.example', '/@evil.example'],
    ['/.evil.example', '/.evil.example'],
    ['/a?next=//evil.example', '/a?next=//evil.example'],
    ['/%0d%0aSet-Cookie:x', '/%0d%0aSet-Cookie:x'],
  ];
  for (const [path, expected] of cases) {
    const location = (await send(config, { path })).header('location') ?? '';
    assert.equal(location, `https://example.com:8443${expected}`, path);
    assert.equal(new URL(location).host, 'example.com:8443');
  }
});

test('accepts the scheme of an app', async () => {
  const config = { location: 'myapp://start?x', keep_incoming_path: true };
  assert.equal((await send(config, { path: '/a' })).header('location'), 'myapp://start/a');
});

test('answers 500 for a status that cannot end a request', async () => {
  const plugin = testPlugin(redirect, { config: { location: 'https://example.com', status_code: 100 } });
  assert.equal((await plugin.request()).response.status, 500);
  assert.match(plugin.logLines[0]?.message ?? '', /not the status of a final answer/);
});
