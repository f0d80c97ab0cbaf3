import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Rig, startRig } from '../../../test/support/rig.ts';

let rig: Rig;
before(async () => {
  rig = await startRig({ settings: { plugins: ['request-termination'] } });
});
after(() => rig.close());

test("echoes the route's capture groups by number and by name, as Kong does", async () => {
  await rig.write('POST', '/services/backend/routes', { name: 'groups', paths: ['~/items/(?<id>\\d+)/(\\w+)$'] });
  await rig.write('POST', '/routes/groups/plugins', { name: 'request-termination', config: { echo: true } });
  const response = await fetch(`${rig.gateway.proxyUrl}/items/55/parts`);
  const { request } = (await response.json()) as { readonly request: Readonly<Record<string, unknown>> };
  assert.equal(response.status, 503);
  assert.deepEqual(request['uri_captures'], { named: { id: '55' }, unnamed: ['55', 'parts'] });
});
