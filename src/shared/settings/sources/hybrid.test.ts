import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Settings } from '../settings.ts';
import { loadSettings } from './load.ts';

const pair = { KONG_CLUSTER_CERT: '/cluster.crt', KONG_CLUSTER_CERT_KEY: '/cluster.key' };
const controlPlane = { KONG_ROLE: 'control_plane', ...pair };
const dataPlane = { KONG_ROLE: 'data_plane', ...pair };

function load(env: Readonly<Record<string, string>>): Settings {
  return loadSettings({ env, cwd: '/nonexistent' }).settings;
}

function refusal(env: Readonly<Record<string, string>>): string {
  try {
    load(env);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  assert.fail('the settings were accepted');
}

test('a traditional node ignores the settings of the connection', () => {
  const settings = load({ KONG_CLUSTER_CERT: '/cluster.crt' });
  assert.equal(settings.hybrid, null);
  assert.deepEqual(settings.clusterListen, []);
  assert.equal(settings.public['role'], 'traditional');
});

test('a control plane has no workers and no proxy listener', () => {
  const settings = load({ ...controlPlane, KONG_STREAM_LISTEN: '127.0.0.1:9000' });
  assert.equal(settings.workers, 0);
  assert.deepEqual([settings.proxyListen, settings.streamListen], [[], []]);
  assert.deepEqual(
    settings.clusterListen.map(({ ip, port }) => `${ip}:${port}`),
    ['0.0.0.0:8005'],
  );
  assert.equal(settings.dataPlanePurgeDelay, 1_209_600_000);
});

test('a data plane has no Admin API and no database, whether database = off is set or not', () => {
  for (const env of [dataPlane, { ...dataPlane, KONG_DATABASE: 'off' }]) {
    const settings = load(env);
    assert.equal(settings.database, 'off');
    assert.deepEqual(settings.adminListen, []);
    assert.deepEqual(settings.hybrid, {
      mtls: 'shared',
      cert: '/cluster.crt',
      key: '/cluster.key',
      ca: null,
      serverName: null,
      controlPlanes: ['127.0.0.1:8005'],
      maxPayload: 16_777_216,
      timeout: 5000,
      labels: {},
    });
  }
});

test('several control planes and labels', () => {
  const { hybrid } = load({
    ...dataPlane,
    KONG_CLUSTER_CONTROL_PLANE: 'cp-1.internal:8005, [2001:db8::1]:18005',
    KONG_CLUSTER_DP_LABELS: 'region:eu-west,tier:edge',
  });
  assert.deepEqual(hybrid?.controlPlanes, ['cp-1.internal:8005', '[2001:db8::1]:18005']);
  assert.deepEqual(hybrid?.labels, { region: 'eu-west', tier: 'edge' });
});

test('the private key is not shown', () => {
  const { public: shown } = load(dataPlane);
  assert.equal(shown['cluster_cert_key'], '******');
  assert.equal(shown['cluster_cert'], '/cluster.crt');
});

const refused: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  ['no certificate', { KONG_ROLE: 'data_plane' }, 'cluster certificate and key must be provided to use Hybrid mode'],
  [
    'no key',
    { KONG_ROLE: 'control_plane', KONG_CLUSTER_CERT: '/cluster.crt' },
    'cluster certificate and key must be provided to use Hybrid mode',
  ],
  [
    'pki without an authority',
    { ...dataPlane, KONG_CLUSTER_MTLS: 'pki' },
    'cluster_ca_cert must be specified when cluster_mtls = "pki"',
  ],
  [
    'a control plane without a database',
    { ...controlPlane, KONG_DATABASE: 'off' },
    'in-memory storage can not be used when role = "control_plane"',
  ],
  [
    'a control plane without an Admin API',
    { ...controlPlane, KONG_ADMIN_LISTEN: 'off' },
    'admin_listen must be specified when role = "control_plane"',
  ],
  [
    'a control plane without a listener for data planes',
    { ...controlPlane, KONG_CLUSTER_LISTEN: 'off' },
    'cluster_listen must be specified when role = "control_plane"',
  ],
  [
    'a data plane with a database',
    { ...dataPlane, KONG_DATABASE: 'postgres' },
    'only in-memory storage can be used when role = "data_plane"\nHint: set database = off in your kong.conf',
  ],
  [
    'a data plane without listeners',
    { ...dataPlane, KONG_PROXY_LISTEN: 'off' },
    'proxy_listen must be specified when role = "data_plane"',
  ],
  [
    'a control plane without a port',
    { ...dataPlane, KONG_CLUSTER_CONTROL_PLANE: 'cp.internal' },
    "cluster_control_plane must be a comma separated list of host:port, not 'cp.internal' (set by KONG_CLUSTER_CONTROL_PLANE)",
  ],
  [
    'a reserved label',
    { ...dataPlane, KONG_CLUSTER_DP_LABELS: 'kong-zone:a' },
    "cluster_dp_labels has an invalid label 'kong-zone:a': the name is reserved (set by KONG_CLUSTER_DP_LABELS)",
  ],
  [
    'a label without a value',
    { ...dataPlane, KONG_CLUSTER_DP_LABELS: 'zone' },
    "cluster_dp_labels has an invalid label 'zone': write name:value, each 1 to 63 letters, digits, '.', '_' or '-' (set by KONG_CLUSTER_DP_LABELS)",
  ],
  [
    'one port for two listeners',
    { ...controlPlane, KONG_CLUSTER_LISTEN: '127.0.0.1:8001' },
    'cluster_listen and admin_listen both name port 8001 of 127.0.0.1',
  ],
];
for (const [title, env, message] of refused) {
  test(`${title} is refused`, () => assert.equal(refusal(env), message));
}
