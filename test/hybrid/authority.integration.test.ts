import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { CertificateAuthority, type IssuedCertificate } from '../support/certificate-authority.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { type ControlPlane, type DataPlane, type HybridRig, startHybridRig } from '../support/hybrid.ts';

/** `cluster_mtls = pki`: each node has its own certificate, of one authority. */
const timeout = 90_000;
const authority = new CertificateAuthority('cluster');
const strangers = new CertificateAuthority('strangers');
let backend: TestBackend;
let rig: HybridRig;
let controlPlane: ControlPlane;

before(async () => {
  backend = await startBackend();
  rig = await startHybridRig();
  controlPlane = await rig.controlPlane('control', await settingsFor('control', authority.issue('control.test')));
});
after(async () => {
  await rig.stop();
  await backend.close();
  authority[Symbol.dispose]();
  strangers[Symbol.dispose]();
});

type Environment = Readonly<Record<string, string>>;

/** The settings of a node with that certificate. `trusts`: whose certificates it accepts. */
async function settingsFor(
  name: string,
  { cert, key }: IssuedCertificate,
  trusts: CertificateAuthority = authority,
): Promise<Environment> {
  const [certFile, keyFile] = [join(rig.folder, `${name}.crt`), join(rig.folder, `${name}.key`)];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  return {
    KONG_CLUSTER_MTLS: 'pki',
    KONG_CLUSTER_CERT: certFile,
    KONG_CLUSTER_CERT_KEY: keyFile,
    KONG_CLUSTER_CA_CERT: trusts.file,
    SLUICEGATE_CLUSTER_TIMEOUT: '2s',
  };
}

async function routeTo(name: string): Promise<void> {
  assert.equal((await controlPlane.admin('PUT', `/services/${name}`, { url: backend.url })).status, 200);
  const route = await controlPlane.admin('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  assert.equal(route.status, 200);
}

async function connectedIds(): Promise<readonly string[]> {
  const { body } = await controlPlane.admin('GET', '/clustering/data-planes');
  return (body['data'] as readonly { readonly id: string }[]).map(({ id }) => id);
}

/** Starts a data plane that gets no config, and returns it once it has said why. */
async function refused(name: string, env: Environment, reason: RegExp): Promise<GatewayProcess> {
  const before = await connectedIds();
  const node = rig.launchDataPlane(controlPlane.address, name, env);
  await node.printed(new RegExp(`${reason.source}.*a control plane cannot be used`));
  await node.printed(/waiting for a control plane/);
  assert.throws(() => node.url('proxy'), /has not said/, 'it does not listen for clients');
  assert.deepEqual(await connectedIds(), before);
  return node;
}

test('a config edit reaches a data plane with a certificate of its own, which serves traffic', {
  timeout,
}, async () => {
  const own = await settingsFor('own', authority.issue('own.test'));
  const byName = await settingsFor('named', authority.issue('named.test', { depth: 1 }));
  const dataPlanes: readonly DataPlane[] = [
    await rig.dataPlane(controlPlane.address, 'own', own),
    await rig.dataPlane(controlPlane.address, 'named', { ...byName, KONG_CLUSTER_SERVER_NAME: 'control.test' }),
  ];
  await routeTo('first');
  await controlPlane.settled(...dataPlanes);
  for (const dataPlane of dataPlanes) {
    assert.equal(await dataPlane.statusOf('/first'), 200);
    assert.equal(await dataPlane.statusOf('/later'), 404);
  }
  await routeTo('later');
  await controlPlane.settled(...dataPlanes);
  for (const dataPlane of dataPlanes) assert.equal(await dataPlane.statusOf('/later'), 200);
  assert.deepEqual([...(await connectedIds())].sort(), dataPlanes.map(({ id }) => id).sort());
});

test('a data plane with a certificate of another authority is refused, and both say why', { timeout }, async () => {
  const env = await settingsFor('stranger', strangers.issue('stranger.test'));
  await refused('stranger', env, /perhaps it does not accept the certificate of this node/);
  await controlPlane.printed(/was not signed by the authority.*CN=stranger\.test.*was refused/);
});

test('a data plane whose certificate has expired is refused, and both say why', { timeout }, async () => {
  const env = await settingsFor('expired', authority.issue('expired.test', { days: -1 }));
  await refused('expired', env, /perhaps it does not accept the certificate of this node/);
  await controlPlane.printed(/its certificate has expired.*CN=expired\.test.*was refused/);
});

test('a data plane sends nothing to a control plane with another name, and both say why', { timeout }, async () => {
  const env = await settingsFor('careful', authority.issue('careful.test'));
  await refused('careful', { ...env, KONG_CLUSTER_SERVER_NAME: 'other.test' }, /does not match certificate's altnames/);
  await controlPlane.printed(/may not accept the certificate of this control plane.*was refused/);
});

test('a data plane sends nothing to a control plane of another authority', { timeout }, async () => {
  const env = await settingsFor('distrusting', authority.issue('distrusting.test'), strangers);
  await refused('distrusting', env, /unable to (?:verify|get local issuer)|self-signed certificate/);
});
