import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { runReadme } from '../../../test/support/readme-commands.ts';

let gateway: TestGateway;

before(async () => {
  gateway = await startTestGateway({ settings: { plugins: ['redirect'] } });
});
after(() => gateway.stop());

test('follows the examples of the README on routes without a service', async () => {
  const [old, moved] = await runReadme(new URL('./README.md', import.meta.url), gateway);
  assert.match(old?.output ?? '', /^HTTP\/1\.1 308 [\s\S]*\r\nLocation: https:\/\/www\.example\.com\/new\r\n/);
  assert.match(moved?.output ?? '', /^HTTP\/1\.1 301 [\s\S]*\r\nLocation: https:\/\/www\.example\.com\/a\/b\?c=d\r\n/);
});

test('answers HEAD without a body, and never parses the body of a redirected request as a request', async () => {
  const head = await fetch(`${gateway.proxyUrl}/old`, { method: 'HEAD', redirect: 'manual' });
  assert.deepEqual([head.status, await head.text()], [308, '']);
  const body = 'GET /admin HTTP/1.1\r\nHost: x\r\n\r\n';
  for (let at = 0; at < 3; at++) {
    const post = await fetch(`${gateway.proxyUrl}/old`, { method: 'POST', body, redirect: 'manual' });
    assert.deepEqual([post.status, await post.text()], [308, 'redirecting']);
  }
});
