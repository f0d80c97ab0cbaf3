import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, refuse } from 'sluicegate/plugin-sdk';
import { testPlugin } from 'sluicegate/plugin-testing';
import htmlErrors from './index.ts';

const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
const refusing = definePlugin({
  name: 'refusing',
  setup: () => ({ access: () => refuse(403, '<script>alert(1)</script>', { ETag: '"1"' }) }),
});
const config = { site: '<b>Shop</b>', contact: 'Ask "us"' };
const plugin = testPlugin(htmlErrors, { config, otherPlugins: [{ plugin: refusing }] });

test('people get a page, and nothing in it can leave its place', async () => {
  const { response, requestId } = await plugin.request({ headers: { Accept: browser } });
  assert.equal(response.status, 403);
  assert.match(response.body, /<title>Not allowed - &lt;b&gt;Shop&lt;\/b&gt;<\/title>/);
  assert.match(response.body, /Ask &quot;us&quot;/);
  assert.match(response.body, new RegExp(requestId));
  assert.doesNotMatch(response.body, /script|<b>/);
  assert.equal(response.header('content-type'), 'text/html; charset=utf-8');
  assert.deepEqual([response.header('vary'), response.header('etag')], ['Accept', null]);
  assert.equal(response.header('content-security-policy'), "default-src 'none'");
});

test('programs get what they got, and caches keep the two apart', async () => {
  for (const accept of ['application/json', '*/*', 'text/html;q=0.1, */*']) {
    const { response } = await plugin.request({ headers: { Accept: accept } });
    assert.match(response.header('content-type') ?? '', /json/, accept);
    assert.equal(response.header('vary'), 'Accept');
  }
});

test('answers of backends stay, unless their errors are wanted', async () => {
  const request = { headers: { Accept: browser }, backend: { status: 502, body: 'secret of the backend' } };
  assert.equal((await testPlugin(htmlErrors, { config }).request(request)).response.body, 'secret of the backend');
  const { response } = await testPlugin(htmlErrors, { config: { ...config, backends: true } }).request(request);
  assert.match(response.body, /The service is not available/);
  assert.doesNotMatch(response.body, /secret/);
  const missing = await testPlugin(htmlErrors, { config: { ...config, backends: true } }).request({
    ...request,
    backend: { status: 404, body: 'its own page' },
  });
  assert.equal(missing.response.body, 'its own page');
});
