import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { clusterCertificate } from '../../src/shared/tls/self-signed.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type ControlPlane, type HybridRig, startHybridRig } from '../support/hybrid.ts';
import { until } from '../support/until.ts';

const skip = process.platform === 'linux' ? false : 'needs file descriptors of Linux';
const timeout = 120_000;
let backend: TestBackend;
let rig: HybridRig;
const successors = new Set<number>();

before(async () => {
  backend = await startBackend();
});
after(() => backend.close());
beforeEach(async () => {
  rig = await startHybridRig();
});
afterEach(async () => {
  for (const pid of successors) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
  successors.clear();
  await rig.stop();
});

async function addRoute(controlPlane: ControlPlane, name: string): Promise<void> {
  assert.equal((await controlPlane.admin('PUT', `/services/${name}`, { url: backend.url })).status, 200);
  const route = await controlPlane.admin('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  assert.equal(route.status, 200);
}

/** Replaces the process by a new one. */
async function upgrade({ child, prefix }: Pick<ControlPlane, 'child' | 'prefix'>): Promise<void> {
  const pid = async (): Promise<number> => Number(await readFile(join(prefix, 'pids', 'sluicegate.pid'), 'utf8'));
  const old = await pid();
  // Its output stays open, as the new process has it, too.
  const exit = once(child, 'exit');
  child.kill('SIGUSR2');
  await until(async () => (await pid().catch(() => old)) !== old, 40_000);
  successors.add(await pid());
  assert.deepEqual(await exit, [0, null]);
}

/** Requests of one client after the other, while `work` runs; returns their statuses. */
async function underRequests(url: string, work: () => Promise<void>): Promise<ReadonlySet<number | string>> {
  const seen = new Set<number | string>();
  let done = false;
  const client = async (): Promise<void> => {
    while (!done) {
      try {
        const response = await fetch(url, { headers: { connection: 'close' } });
        await response.arrayBuffer();
        seen.add(response.status);
      } catch (error) {
        seen.add(String((error as Error).cause ?? error));
      }
      await wait(5);
    }
  };
  const clients = [client(), client()];
  await work();
  done = true;
  await Promise.all(clients);
  return seen;
}

test('an upgrade of a data plane loses no request, and the new process follows', { skip, timeout }, async () => {
  const controlPlane = await rig.controlPlane();
  const dataPlane = await rig.dataPlane(controlPlane.address, 'dp');
  await addRoute(controlPlane, 'open');
  await controlPlane.settled(dataPlane);
  const statuses = await underRequests(`${dataPlane.proxyUrl}/open`, () => upgrade(dataPlane));
  assert.deepEqual([...statuses], [200]);
  await addRoute(controlPlane, 'later');
  await controlPlane.settled(dataPlane);
  assert.equal(await dataPlane.statusOf('/later'), 200);
});

test('an upgrade of a control plane loses no request, and its data planes follow the new process', {
  skip,
  timeout,
}, async () => {
  const controlPlane = await rig.controlPlane();
  const dataPlane = await rig.dataPlane(controlPlane.address, 'dp');
  await addRoute(controlPlane, 'open');
  await controlPlane.settled(dataPlane);
  const statuses = await underRequests(`${dataPlane.proxyUrl}/open`, () => upgrade(controlPlane));
  assert.deepEqual([...statuses], [200]);
  await addRoute(controlPlane, 'later');
  await until(async () => (await dataPlane.statusOf('/later')) === 200, 30_000);
  await until(async () => (await controlPlane.row(dataPlane)) !== undefined, 30_000);
});

test('a reload replaces the shared certificate on both ends without a lost connection', { skip, timeout }, async () => {
  const controlPlane = await rig.controlPlane();
  const dataPlane = await rig.dataPlane(controlPlane.address, 'dp');
  const { cert, key } = clusterCertificate(3);
  await writeFile(String(rig.certificate['KONG_CLUSTER_CERT']), cert);
  await writeFile(String(rig.certificate['KONG_CLUSTER_CERT_KEY']), key);
  for (const node of [controlPlane, dataPlane]) {
    node.child.kill('SIGHUP');
    await node.printed(/the certificate of the connection between control plane and data planes was replaced/);
  }
  const second = await rig.dataPlane(controlPlane.address, 'second');
  await addRoute(controlPlane, 'open');
  await controlPlane.settled(dataPlane, second);
  assert.equal(await second.statusOf('/open'), 200);
});

test('a certificate that cannot be used is refused, and the one before stays', { skip, timeout }, async () => {
  const controlPlane = await rig.controlPlane();
  await writeFile(String(rig.certificate['KONG_CLUSTER_CERT_KEY']), 'not a key');
  controlPlane.child.kill('SIGHUP');
  await controlPlane.printed(/cluster_cert and cluster_cert_key cannot be used/);
  assert.doesNotMatch(controlPlane.output(), /not a key/);
  assert.equal((await controlPlane.admin('GET', '/status')).status, 200);
});
