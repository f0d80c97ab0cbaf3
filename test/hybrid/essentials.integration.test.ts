import assert from 'node:assert/strict';
import { testEssentials } from '../support/essentials.ts';
import { startHybridRig } from '../support/hybrid.ts';

testEssentials(async () => {
  const rig = await startHybridRig();
  const controlPlane = await rig.controlPlane();
  const dataPlane = await rig.dataPlane(controlPlane.address, 'data-plane', { KONG_NGINX_WORKER_PROCESSES: '2' });
  const settled = (): Promise<void> => controlPlane.settled(dataPlane);
  return {
    proxyUrl: dataPlane.proxyUrl,
    admin: controlPlane.admin,
    settled,
    async load(document) {
      const { status, body } = await controlPlane.admin('POST', '/config/apply', document);
      assert.equal(status, 200, JSON.stringify(body));
      await settled();
    },
    stop: rig.stop,
  };
});
