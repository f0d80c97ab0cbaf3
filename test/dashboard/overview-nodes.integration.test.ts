// The overview of nodes that are not as usual: without a database, without traffic of their own.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterCertificate } from '../../src/shared/tls/self-signed.ts';
import { skipWithoutChromium, startDashboardRig } from '../support/dashboard.ts';
import { startTestGateway } from '../support/gateway.ts';
import { skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until, untilPasses } from '../support/until.ts';

const skip = skipWithoutChromium();

describe('the overview of other nodes', { skip }, () => {
  test('while the database hangs, the page says so and the traffic goes on', {
    skip: skipWithoutPostgres(),
  }, async () => {
    const server = await startPostgres();
    try {
      const env = {
        KONG_DATABASE: 'postgres',
        KONG_PG_HOST: server.host,
        KONG_PG_PORT: String(server.port),
        KONG_PG_USER: server.user,
        KONG_PG_PASSWORD: server.password,
        KONG_PG_DATABASE: server.database,
        KONG_PG_TIMEOUT: '3000',
      };
      await using rig = await startDashboardRig({ env });
      assert.equal((await rig.gateway.admin('PUT', '/services/orders', { url: 'http://orders.test' })).status, 200);
      // The page begins without a database.
      server.freeze();
      try {
        await using desk = await rig.open('/');
        const { page } = desk;
        await page.getByText('postgres cannot be reached').waitFor();
        await fetch(`${rig.gateway.proxyUrl}/nowhere`);
        await page.getByText('1 in the last minute', { exact: true }).waitFor();
        await desk.check('an overview without a database');
        server.thaw();
        await page.getByText('postgres cannot be reached').waitFor({ state: 'detached' });
      } finally {
        server.thaw();
      }
    } finally {
      await server.stop();
    }
  });

  test('while the gateway is stopped, the page says so and keeps what it shows, and continues by itself', async () => {
    await using rig = await startDashboardRig();
    assert.equal((await rig.gateway.admin('PUT', '/services/orders', { url: 'http://orders.test' })).status, 200);
    for (let at = 0; at < 3; at++) await fetch(`${rig.gateway.proxyUrl}/nowhere`);
    await using desk = await rig.open('/');
    const { page } = desk;
    const requests = page.getByRole('region', { name: 'Requests', exact: true });
    await requests.getByText('3 in the last minute').waitFor();
    await rig.gateway.stop();
    await page.getByText(/^No connection, as of/).waitFor();
    await requests.getByText('3 in the last minute').waitFor();
    await page.getByText('the page reconnects by itself').waitFor();
    await desk.check('an overview without a gateway');
    await using next = await startTestGateway({ env: { KONG_ADMIN_GUI_LISTEN: new URL(rig.url).host } });
    await page.getByText('Live', { exact: true }).first().waitFor();
    await fetch(`${next.proxyUrl}/nowhere`);
    await until(async () => !(await requests.innerText()).includes('3 in the last minute'));
  });

  test('a control plane says that it carries no requests, and begins with the last hour', async () => {
    const pair = clusterCertificate(2);
    const env = {
      KONG_ROLE: 'control_plane',
      KONG_CLUSTER_LISTEN: '127.0.0.1:0',
      KONG_CLUSTER_CERT: pair.cert,
      KONG_CLUSTER_CERT_KEY: pair.key,
    };
    await using rig = await startDashboardRig({ env });
    assert.equal((await rig.gateway.admin('PUT', '/services/orders', { url: 'http://orders.test' })).status, 200);
    await using desk = await rig.open('/');
    await desk.page.getByText('This is a control plane').waitFor();
    await untilPasses(async () => assert.ok(await desk.page.getByRole('radio', { name: '1 hour' }).isChecked()));
    await desk.page.getByRole('region', { name: 'Requests by the minute' }).waitFor();
    await desk.check('the overview of a control plane');
  });
});
