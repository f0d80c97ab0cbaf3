import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { freePort } from '../support/free-port.ts';
import { type ControlPlane, type DataPlane, type HybridRig, startHybridRig } from '../support/hybrid.ts';
import { until } from '../support/until.ts';
import { incompatibleVersion, neighbourVersion, type OtherVersion } from './other-version.fixture.ts';

/** Control planes and data planes of two versions that follow each other, both ways. */
const timeout = 120_000;
let backend: TestBackend;
let neighbour: OtherVersion;
let rig: HybridRig;

before(
  async () => {
    backend = await startBackend();
    neighbour = await neighbourVersion();
  },
  { timeout },
);
after(() => backend.close());
beforeEach(async () => {
  rig = await startHybridRig();
});
afterEach(() => rig.stop());

async function configure(controlPlane: ControlPlane): Promise<void> {
  const applied = await controlPlane.admin('POST', '/config/apply', {
    _format_version: '3.0',
    services: [
      { name: 'open', url: backend.url, routes: [{ name: 'open', paths: ['/open'] }] },
      {
        name: 'keyed',
        url: backend.url,
        routes: [{ name: 'keyed', paths: ['/keyed'] }],
        plugins: [{ name: 'key-auth' }, { name: 'rate-limiting', config: { hour: 4, policy: 'cluster' } }],
      },
      {
        name: 'tokens',
        url: backend.url,
        routes: [{ name: 'tokens', paths: ['/tokens'] }],
        plugins: [
          { name: 'oauth2', config: { enable_client_credentials: true, accept_http_if_already_terminated: true } },
        ],
      },
    ],
    consumers: [
      {
        username: 'ann',
        keyauth_credentials: [{ key: 'key-of-ann' }],
        oauth2_credentials: [
          { name: 'app', client_id: 'app', client_secret: 'app-secret', redirect_uris: ['http://app.test/'] },
        ],
      },
    ],
  });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
}

async function exercise(controlPlane: ControlPlane, dataPlane: DataPlane): Promise<void> {
  await configure(controlPlane);
  await controlPlane.settled(dataPlane);
  assert.equal(await dataPlane.statusOf('/open'), 200);
  const keyed = (): Promise<number> => dataPlane.statusOf('/keyed', { apikey: 'key-of-ann' });
  const statuses: number[] = [];
  for (let round = 0; round < 8; round++) statuses.push(await keyed());
  assert.ok(statuses.includes(200) && statuses.includes(429), `a limit over all nodes: ${statuses}`);
  const answer = await fetch(`${dataPlane.proxyUrl}/tokens/oauth2/token`, {
    method: 'POST',
    headers: { 'X-Forwarded-Proto': 'https' },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'app', client_secret: 'app-secret' }),
  });
  const issued = (await answer.json()) as { readonly access_token: string };
  assert.equal(answer.status, 200, JSON.stringify(issued));
  assert.equal(
    await dataPlane.statusOf('/tokens', {
      'X-Forwarded-Proto': 'https',
      Authorization: `Bearer ${issued.access_token}`,
    }),
    200,
  );
  const { body } = await controlPlane.admin('GET', '/consumers/ann/key-auth');
  const [credential] = body['data'] as readonly { readonly id: string }[];
  await controlPlane.admin('DELETE', `/consumers/ann/key-auth/${credential?.id}`);
  await controlPlane.settled(dataPlane);
  assert.equal(await keyed(), 401);
  const row = await controlPlane.row(dataPlane);
  assert.equal(row?.['sync_status'], 'normal');
  dataPlane.child.kill('SIGTERM');
  assert.equal(await dataPlane.exit, 0, dataPlane.output());
  const usage = await controlPlane.admin('GET', '/analytics/usage?group_by=route&route=open');
  const [counted] = usage.body['data'] as readonly { readonly requests: number }[];
  assert.equal(counted?.requests, 1);
}

const trusted = { KONG_TRUSTED_IPS: '127.0.0.1' };

test('a data plane of the neighbour version works with a control plane of this one', { timeout }, async () => {
  const controlPlane = await rig.controlPlane();
  const dataPlane = await rig.dataPlane(controlPlane.address, 'dp', trusted, neighbour.entry);
  assert.equal((await controlPlane.row(dataPlane))?.['version'], neighbour.version);
  await exercise(controlPlane, dataPlane);
});

test('a data plane of this version works with a control plane of the neighbour', { timeout }, async () => {
  const controlPlane = await rig.controlPlane('cp', {}, neighbour.entry);
  const dataPlane = await rig.dataPlane(controlPlane.address, 'dp', trusted);
  await exercise(controlPlane, dataPlane);
});

test('a data plane that no longer speaks the version of its control plane is refused with the reason, and serves its copy', {
  timeout,
}, async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const env = { KONG_CLUSTER_LISTEN: address };
  const other = await incompatibleVersion();
  const controlPlane = await rig.controlPlane('cp', env);
  const dataPlane = await rig.dataPlane(address, 'dp');
  await configure(controlPlane);
  await controlPlane.settled(dataPlane);
  const copy = join(dataPlane.prefix, 'last-good.json');
  await until(async () => (await readFile(copy, 'utf8').catch(() => '')).includes('/settled-'));
  dataPlane.child.kill('SIGTERM');
  await dataPlane.exit;
  const refused = await rig.dataPlane(address, 'dp', { SLUICEGATE_CLUSTER_TIMEOUT: '500ms' }, other.entry);
  assert.equal(await refused.statusOf('/open'), 200);
  await until(async () => (await controlPlane.row(refused))?.['sync_status'] === 'kong_version_incompatible');
  assert.match(refused.output(), /protocol/);
});
