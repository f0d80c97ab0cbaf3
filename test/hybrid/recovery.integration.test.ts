import assert from 'node:assert/strict';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { freePort } from '../support/free-port.ts';
import { type ControlPlane, type HybridRig, startHybridRig } from '../support/hybrid.ts';
import { until } from '../support/until.ts';

/** A data plane without its control plane: it continues, restarts from its copy, or waits. */
const timeout = 90_000;
let backend: TestBackend;
let rig: HybridRig;

before(async () => {
  backend = await startBackend();
});
after(() => backend.close());
beforeEach(async () => {
  rig = await startHybridRig();
});
afterEach(() => rig.stop());

async function addRoute(controlPlane: ControlPlane, name: string, plugins: readonly object[] = []): Promise<void> {
  assert.equal((await controlPlane.admin('PUT', `/services/${name}`, { url: backend.url })).status, 200);
  assert.equal(
    (await controlPlane.admin('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] })).status,
    200,
  );
  for (const plugin of plugins) {
    assert.equal((await controlPlane.admin('POST', `/routes/${name}/plugins`, plugin)).status, 201);
  }
}

/** So that the control plane can start again where data planes look for it. */
async function fixedAddress(): Promise<{ readonly env: Readonly<Record<string, string>>; readonly address: string }> {
  const address = `127.0.0.1:${await freePort()}`;
  return { address, env: { KONG_CLUSTER_LISTEN: address } };
}

async function ready(statusUrl: string): Promise<string> {
  const response = await fetch(`${statusUrl}/status/ready`);
  return `${response.status} ${((await response.json()) as { message: string }).message}`;
}

const copyOf = (prefix: string): Promise<string> => readFile(join(prefix, 'last-good.json'), 'utf8').catch(() => '');

test('continues without its control plane, starts from its copy, and follows again', { timeout }, async () => {
  const { env, address } = await fixedAddress();
  const first = await rig.controlPlane('cp', env);
  const dataPlane = await rig.dataPlane(address, 'dp');
  await addRoute(first, 'open');
  await addRoute(first, 'keyed', [{ name: 'key-auth' }]);
  await first.admin('PUT', '/consumers/ann', {});
  await first.admin('POST', '/consumers/ann/key-auth', { key: 'key-of-ann' });
  await first.settled(dataPlane);
  assert.equal(await dataPlane.statusOf('/keyed', { apikey: 'key-of-ann' }), 200);
  await until(async () => (await copyOf(dataPlane.prefix)).includes('/settled-'));

  first.child.kill('SIGKILL');
  await first.exit;
  assert.equal(await dataPlane.statusOf('/open'), 200);
  assert.equal(await dataPlane.statusOf('/keyed', { apikey: 'key-of-ann' }), 200, 'the credential is remembered');
  assert.equal(await ready(dataPlane.statusUrl), '200 ready');
  dataPlane.child.kill('SIGTERM');
  assert.equal(await dataPlane.exit, 0);

  const times = { SLUICEGATE_CLUSTER_TIMEOUT: '1s', SLUICEGATE_LAST_GOOD_WAIT: '0' };
  const again = await rig.dataPlane(address, 'dp', times);
  assert.equal(await again.statusOf('/open'), 200);
  assert.equal(await again.statusOf('/keyed', { apikey: 'key-of-ann' }), 200, 'lookups are in the copy, too');
  assert.equal(await ready(again.statusUrl), '200 ready');

  const second = await rig.controlPlane('cp', env);
  await addRoute(second, 'later');
  await until(async () => (await again.statusOf('/later')) === 200, 30_000);
  const { body } = await second.admin('GET', '/consumers/ann/key-auth');
  const [credential] = body['data'] as readonly { readonly id: string }[];
  assert.equal((await second.admin('DELETE', `/consumers/ann/key-auth/${credential?.id}`)).status, 204);
  await until(async () => (await again.statusOf('/keyed', { apikey: 'key-of-ann' })) === 401);
});

test('a restart receives only what has changed since the copy', { timeout }, async () => {
  const { env, address } = await fixedAddress();
  const controlPlane = await rig.controlPlane('cp', env);
  const dataPlane = await rig.dataPlane(address, 'dp');
  await addRoute(controlPlane, 'before');
  await controlPlane.settled(dataPlane);
  await until(async () => (await copyOf(dataPlane.prefix)).includes('/settled-'));
  dataPlane.child.kill('SIGTERM');
  await dataPlane.exit;
  await addRoute(controlPlane, 'meanwhile');
  await controlPlane.admin('DELETE', '/routes/before');
  const again = await rig.dataPlane(address, 'dp');
  // From the first request on.
  assert.equal(await again.statusOf('/meanwhile'), 200);
  assert.equal(await again.statusOf('/before'), 404);
});

for (const [name, damage] of [
  ['truncated', (path: string) => truncate(path, 100)],
  ['not JSON', (path: string) => writeFile(path, 'garbage\n')],
] as const) {
  test(`a copy that is ${name} is not used: the node waits, says why, and serves when a control plane answers`, {
    timeout,
  }, async () => {
    const { env, address } = await fixedAddress();
    const controlPlane = await rig.controlPlane('cp', env);
    const dataPlane = await rig.dataPlane(address, 'dp');
    await addRoute(controlPlane, 'open');
    await controlPlane.settled(dataPlane);
    await until(async () => (await copyOf(dataPlane.prefix)).includes('/settled-'));
    for (const node of [dataPlane, controlPlane]) {
      node.child.kill('SIGKILL');
      await node.exit;
    }
    await damage(join(dataPlane.prefix, 'last-good.json'));
    const statusPort = await freePort();
    const waiting = rig.launchDataPlane(address, 'dp', {
      KONG_STATUS_LISTEN: `127.0.0.1:${statusPort}`,
      KONG_ADMIN_GUI_LISTEN: 'off',
      SLUICEGATE_CLUSTER_TIMEOUT: '1s',
    });
    await waiting.printed(/the copy of the last good config is not usable: .*waiting for a control plane/);
    await rig.controlPlane('cp', env);
    await waiting.started();
    const response = await fetch(`${waiting.url('proxy')}/open`);
    assert.equal(response.status, 200);
    assert.equal(await ready(`http://127.0.0.1:${statusPort}`), '200 ready');
  });
}

test('without a control plane and without a copy it waits, is not ready, and ends at a signal', {
  timeout,
}, async () => {
  const [closed, statusPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
  const waiting = rig.launchDataPlane(`127.0.0.1:${closed}`, 'dp', {
    KONG_STATUS_LISTEN: `127.0.0.1:${statusPort}`,
    KONG_ADMIN_GUI_LISTEN: 'off',
    KONG_PROXY_LISTEN: `127.0.0.1:${proxyPort}`,
    SLUICEGATE_CLUSTER_TIMEOUT: '1s',
  });
  await waiting.printed(/waiting for a control plane/);
  const statusUrl = `http://127.0.0.1:${statusPort}`;
  await until(async () => (await ready(statusUrl).catch(() => '')).startsWith('503'));
  assert.equal(
    await ready(statusUrl),
    '503 no configuration available (no control plane has answered, and there is no copy of an earlier configuration)',
  );
  const status = (await (await fetch(`${statusUrl}/status`)).json()) as Record<string, unknown>;
  assert.equal(status['configuration_hash'], '0'.repeat(32));
  assert.equal('database' in status, false);
  await assert.rejects(fetch(`http://127.0.0.1:${proxyPort}/`), 'nobody gets a 404 of a node without a config');
  waiting.child.kill('SIGTERM');
  assert.equal(await waiting.exit, 0);
});

test('uses another control plane of its list when one ends', { timeout }, async () => {
  const first = await rig.controlPlane('one');
  const secondAddress = `127.0.0.1:${await freePort()}`;
  const dataPlane = await rig.dataPlane(`${first.address}, ${secondAddress}`, 'dp');
  await addRoute(first, 'open');
  await first.settled(dataPlane);
  first.child.kill('SIGTERM');
  await first.exit;
  // The same database, on another port.
  const second = await rig.controlPlane('one', { KONG_CLUSTER_LISTEN: secondAddress });
  await addRoute(second, 'later');
  await until(async () => (await dataPlane.statusOf('/later')) === 200, 30_000);
  assert.equal(await dataPlane.statusOf('/open'), 200);
});
