import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, answerEach } from '../../../test/support/raw-backend.ts';
import { runReadme } from '../../../test/support/readme-commands.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

let rig: Rig;

before(async () => {
  const script = answerEach(() => answer('page', 'Server: Apache/2.4\r\nX-Powered-By: PHP/5\r\n'));
  rig = await startRig({ script, settings: { plugins: ['response-headers'] } });
});
after(() => rig.close());

test('accepts the examples of the README', async () => {
  await rig.write('PUT', '/upstreams/shop.internal', {});
  await rig.write('POST', '/upstreams/shop.internal/targets', { target: `127.0.0.1:${rig.backend.port}` });
  const [shop] = await runReadme(new URL('./README.md', import.meta.url), rig.gateway);
  const output = shop?.output ?? '';
  assert.match(output, /^X-Frame-Options: SAMEORIGIN\r$/m);
  assert.match(output, /^Content-Security-Policy: default-src 'self'/m);
  assert.doesNotMatch(output, /Apache|PHP|Cross-Origin-Embedder-Policy|Strict-Transport-Security/);
  assert.ok(output.endsWith('\r\n\r\npage'));
});

test('adds the headers of a global instance to refusals of the gateway', async () => {
  await rig.gateway.admin('DELETE', '/services/backend/routes/all');
  await rig.write('POST', '/plugins', { name: 'response-headers', config: { preset: 'api' } });
  const response = await fetch(`${rig.gateway.proxyUrl}/nowhere`);
  assert.deepEqual([response.status, response.headers.get('x-content-type-options')], [404, 'nosniff']);
});
