import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startTestGateway } from '../support/gateway.ts';
import { type ControlPlane, type DataPlane, type HybridRig, startHybridRig } from '../support/hybrid.ts';
import { until } from '../support/until.ts';

let rig: HybridRig;
let controlPlane: ControlPlane;
let dataPlane: DataPlane;

before(async () => {
  rig = await startHybridRig();
  controlPlane = await rig.controlPlane();
  dataPlane = await rig.dataPlane(controlPlane.address, 'dp', { KONG_CLUSTER_DP_LABELS: 'region:eu-west,tier:edge' });
});
after(() => rig.stop());

test('GET / names the role, and no secret', async () => {
  const { body } = await controlPlane.admin('GET', '/');
  const configuration = body['configuration'] as Readonly<Record<string, unknown>>;
  assert.equal(configuration['role'], 'control_plane');
  assert.equal(configuration['cluster_cert_key'], '******');
  assert.deepEqual(configuration['cluster_listen'], [controlPlane.address]);
});

test('GET /clustering/data-planes lists data planes with the fields of Kong', async () => {
  await controlPlane.settled(dataPlane);
  const row = (await controlPlane.row(dataPlane)) ?? {};
  assert.deepEqual(Object.keys(row), [
    'id',
    'ip',
    'hostname',
    'version',
    'config_hash',
    'last_seen',
    'updated_at',
    'sync_status',
    'labels',
    'cert_details',
    'rpc_capabilities',
    'ttl',
  ]);
  const certificate = new X509Certificate(readFileSync(String(rig.certificate['KONG_CLUSTER_CERT'])));
  assert.deepEqual(
    { ...row, hostname: '', version: '', last_seen: 0, updated_at: 0, ttl: 0 },
    {
      id: dataPlane.id,
      ip: '127.0.0.1',
      hostname: '',
      version: '',
      config_hash: await dataPlane.hash(),
      last_seen: 0,
      updated_at: 0,
      sync_status: 'normal',
      labels: { region: 'eu-west', tier: 'edge' },
      cert_details: { expiry_timestamp: Math.floor(certificate.validToDate.getTime() / 1000) },
      rpc_capabilities: [],
      ttl: 0,
    },
  );
  assert.ok(Math.abs(Number(row['last_seen']) - Date.now() / 1000) < 30);
  assert.ok(Number(row['ttl']) > 1_209_000);
});

test('GET /clustering/status lists them by id, and is deprecated', async () => {
  const { headers, body } = await controlPlane.admin('GET', '/clustering/status');
  assert.equal(headers.get('deprecation'), 'true');
  const row = body[dataPlane.id] as Readonly<Record<string, unknown>>;
  assert.deepEqual(Object.keys(row), ['ip', 'hostname', 'config_hash', 'last_seen']);
});

test('other nodes refuse both, as Kong does', async () => {
  await using node = await startTestGateway();
  for (const path of ['/clustering/data-planes', '/clustering/status']) {
    const { status, body } = await node.admin('GET', path);
    assert.equal(status, 400);
    assert.equal(
      body['message'],
      'this endpoint is only available when Kong is configured to run as Control Plane for the cluster',
    );
  }
});

test('a data plane has no Admin API, and shows the hash of its config', async () => {
  assert.doesNotMatch(dataPlane.output(), /^ {2}admin/m);
  const status = (await (await fetch(`${dataPlane.statusUrl}/status`)).json()) as Readonly<Record<string, unknown>>;
  assert.match(String(status['configuration_hash']), /^[0-9a-f]{32}$/);
  assert.equal('database' in status, false);
});

test('a control plane is ready without workers, and has a database', async () => {
  const ready = await fetch(`${controlPlane.url('status')}/status/ready`);
  assert.deepEqual([ready.status, await ready.json()], [200, { message: 'ready' }]);
  const { body } = await controlPlane.admin('GET', '/status');
  assert.deepEqual(body['database'], { reachable: true });
  assert.equal('configuration_hash' in body, false);
});

test('both ends have metrics of their connection', async () => {
  await controlPlane.admin('POST', '/plugins', { name: 'prometheus' });
  await controlPlane.settled(dataPlane);
  const text = await (await fetch(`${controlPlane.url('status')}/metrics`)).text();
  assert.match(text, new RegExp(`^kong_data_plane_last_seen\\{node_id="${dataPlane.id}",.*\\} \\d{10}$`, 'm'));
  assert.match(text, /^kong_data_plane_version_compatible\{.*kong_version=".+"\} 1$/m);
  assert.match(text, /^kong_data_plane_config_hash\{.*\} [1-9]\d*$/m);
  await until(async () => {
    const own = await (await fetch(`${dataPlane.statusUrl}/metrics`)).text();
    return /^kong_data_plane_cluster_cert_expiry_timestamp \d{10}$/m.test(own);
  });
});

test('what a control plane does not have is refused with the reason', async () => {
  for (const [path, reason] of [
    ['/circuit-breakers', /^a control plane has no circuits/],
    ['/api-versions', /^a control plane counts no requests/],
  ] as const) {
    const { status, body } = await controlPlane.admin('GET', path);
    assert.equal(status, 400, path);
    assert.match(String(body['message']), reason);
  }
});
