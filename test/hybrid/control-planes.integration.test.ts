import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type ControlPlane, type DataPlane, type HybridRig, startHybridRig } from '../support/hybrid.ts';
import { postgresEnv, skipWithoutPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

/** Two control planes on one PostgreSQL database, and a data plane that knows both. */
const skip = skipWithoutPostgres();
const timeout = 120_000;
let postgres: TestPostgres;
let backend: TestBackend;
let rig: HybridRig;
let controlPlanes: readonly [ControlPlane, ControlPlane];
let dataPlane: DataPlane;

before(
  async () => {
    if (skip !== false) return;
    [postgres, backend, rig] = await Promise.all([startPostgres(), startBackend(), startHybridRig()]);
    const env = {
      ...postgresEnv(postgres),
      KONG_PG_TIMEOUT: '2000',
    };
    controlPlanes = [await rig.controlPlane('cp-1', env), await rig.controlPlane('cp-2', env)];
    const addresses = controlPlanes.map(({ address }) => address).join(', ');
    dataPlane = await rig.dataPlane(addresses, 'dp', { SLUICEGATE_CLUSTER_TIMEOUT: '2s' });
  },
  { timeout },
);
after(async () => {
  if (skip !== false) return;
  await rig.stop();
  await backend.close();
  await postgres.stop();
});

async function addRoute(controlPlane: ControlPlane, name: string): Promise<void> {
  assert.equal((await controlPlane.admin('PUT', `/services/${name}`, { url: backend.url })).status, 200);
  const route = await controlPlane.admin('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  assert.equal(route.status, 200);
}

test('a write on either of them reaches the data plane, and both list it', { skip, timeout }, async () => {
  for (const [at, controlPlane] of controlPlanes.entries()) {
    await addRoute(controlPlane, `of-${at}`);
    await until(async () => (await dataPlane.statusOf(`/of-${at}`)) === 200);
  }
  for (const controlPlane of controlPlanes) {
    await until(async () => (await controlPlane.row(dataPlane))?.['config_hash'] === (await dataPlane.hash()), 20_000);
  }
});

test('the data plane continues while the database is unavailable, and follows it again', {
  skip,
  timeout,
}, async () => {
  await postgres.crash();
  assert.equal(await dataPlane.statusOf('/of-0'), 200);
  const refused = await controlPlanes[0].admin('PUT', '/services/never', { url: backend.url });
  assert.ok(refused.status >= 500, String(refused.status));
  await postgres.restart();
  await until(async () => (await controlPlanes[0].admin('GET', '/services')).status === 200, 30_000);
  await addRoute(controlPlanes[0], 'after');
  await until(async () => (await dataPlane.statusOf('/after')) === 200, 30_000);
});

test('the data plane changes to the other one when its own is killed', { skip, timeout }, async () => {
  const [first, second] = controlPlanes;
  first.child.kill('SIGKILL');
  await first.exit;
  await addRoute(second, 'survivor');
  await until(async () => (await dataPlane.statusOf('/survivor')) === 200, 30_000);
  assert.equal(await dataPlane.statusOf('/of-0'), 200);
});
