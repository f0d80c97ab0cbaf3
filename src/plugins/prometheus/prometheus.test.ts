import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeriesWriter } from '../../plugin-kit/shared-memory/index.ts';
import type {
  MetricFamily,
  PluginMetricsTools,
  RouteView,
  ServiceView,
  UpstreamState,
} from '../../plugin-sdk/index.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import prometheus from './index.ts';
import { metrics } from './metrics.ts';
import { Recorder } from './recorder.ts';
import { bytesZone, ofRequests, ofStreams, requestsZone, timesZone } from './series-kinds.ts';

const none = {
  per_consumer: false,
  status_code_metrics: false,
  latency_metrics: false,
  bandwidth_metrics: false,
  upstream_health_metrics: false,
  max_series: 200,
};

test('accepts the configuration of Kong, and names an invalid field', async () => {
  const { check } = testPlugin(prometheus);
  for (const flag of [
    'per_consumer',
    'status_code_metrics',
    'ai_metrics',
    'latency_metrics',
    'bandwidth_metrics',
    'upstream_health_metrics',
  ]) {
    assert.equal((await check({ [flag]: true })).ok, true);
    const wrong = await check({ [flag]: 'yes' });
    assert.ok(!wrong.ok && wrong.message.includes(`config.${flag}: expected a boolean`), JSON.stringify(wrong));
  }
  const few = await check({ max_series: 10 });
  assert.ok(!few.ok && few.message.includes('config.max_series: value should be between 100 and 1000000'));
  assert.equal((await check({ status_codes: true })).ok, false);
});

test('requests memory per flag, and runs nothing without flags', async () => {
  assert.deepEqual(prometheus.zones(none, 'i'), []);
  const { stream, request } = testPlugin(prometheus, { config: { upstream_health_metrics: true } });
  await request();
  await stream();
  const all = { ...none, status_code_metrics: true, latency_metrics: true, bandwidth_metrics: true };
  assert.deepEqual(
    prometheus.zones(all, 'i').map(({ name, kind }) => [name, kind]),
    [requestsZone, timesZone, bytesZone].map(({ name }) => [name, 'series']),
  );
  assert.deepEqual(prometheus.zones(all, 'i'), prometheus.zones({ ...all, per_consumer: true }, 'other'));
});

test('counts requests, refusals and streams', async () => {
  const config = { status_code_metrics: true, latency_metrics: true, bandwidth_metrics: true };
  const { request, stream, logLines } = testPlugin(prometheus, { config });
  await request();
  await stream();
  assert.deepEqual(logLines, []);
});

interface ShownSeries {
  readonly labels: readonly string[];
  readonly value?: number;
  readonly counts?: ArrayLike<number>;
}

async function shown(tools: Partial<PluginMetricsTools>): Promise<Readonly<Record<string, readonly ShownSeries[]>>> {
  const families: readonly MetricFamily[] = await metrics({
    instances: () => [],
    zone: () => null,
    background: async () => null,
    upstreams: () => [],
    ...tools,
  });
  return Object.fromEntries(families.map(({ name, series }) => [name, [...series]]));
}

test('sums instances with separate memory', async () => {
  const memories = ['a', 'b'].map((label) => {
    const [request] = prometheus.zones({ ...none, status_code_metrics: true }, label);
    const memory = new SharedArrayBuffer(request?.bytes ?? 0);
    const writer = new SeriesWriter(memory, 0, requestsZone.cells);
    for (const route of ['both', label]) {
      writer.values[writer.place(['http', 'service', route, '200', 'service', ''])]! += 2;
    }
    writer.values[writer.place([])]! += 1;
    return memory;
  });
  const found = await shown({
    instances: () => [0, 1].map((at) => ({ id: String(at), config: {} })),
    zone: (id, name) => (name === requestsZone.name ? (memories[Number(id)] ?? null) : null),
  });
  const workspace = 'default';
  assert.deepEqual(found['kong_http_requests_total'], [
    { labels: ['service', 'both', '200', 'service', workspace, ''], value: 4 },
    { labels: ['service', 'a', '200', 'service', workspace, ''], value: 2 },
    { labels: ['service', 'b', '200', 'service', workspace, ''], value: 2 },
    { labels: ['overflow', 'overflow', 'overflow', 'overflow', workspace, 'overflow'], value: 2 },
  ]);
  assert.deepEqual(found['kong_nginx_metric_errors_total'], [{ labels: [], value: 2 }]);
  assert.deepEqual(found['kong_stream_sessions_total'], []);
  assert.equal(found['kong_request_latency_ms'], undefined, 'nobody has asked for times');
});

test('counts bytes once when a route changes from requests to streams', async () => {
  const [request] = prometheus.zones({ ...none, bandwidth_metrics: true }, 'i');
  const memory = new SharedArrayBuffer(request?.bytes ?? 0);
  const memories = { requests: null, times: null, bytes: new SeriesWriter(memory, 0, bytesZone.cells) };
  const service = { name: 'service' } as ServiceView;
  const observed = { total: 1, gateway: 1, bytesReceived: 10, bytesSent: 20 };
  for (const kind of [ofRequests, ofStreams]) {
    new Recorder(kind, memories).record({ name: 'r' } as RouteView, service, null, 200, true, observed, 1);
  }
  const found = await shown({
    instances: () => [{ id: 'i', config: {} }],
    zone: (_, name) => (name === bytesZone.name ? memory : null),
  });
  assert.deepEqual(
    found['kong_bandwidth_bytes']?.map(({ labels, value }) => [labels[2], value]),
    [
      ['egress', 40],
      ['ingress', 20],
    ],
  );
});

test('reports an address of a target in one of four states', async () => {
  const address = { ip: '10.0.0.1', port: 80, healthy: true };
  const upstreams: readonly UpstreamState[] = [
    {
      name: 'checked',
      checked: true,
      targets: [
        { host: 'a.test', port: 80, addresses: [address, { ip: '::1', port: 81, healthy: false }, address] },
        { host: 'gone.test', port: 80, addresses: [] },
      ],
    },
    { name: 'unchecked', checked: false, targets: [{ host: '::1', port: 80, addresses: [address] }] },
  ];
  const instances = (upstream_health_metrics: boolean) => () => [
    { id: 'i', config: { ...none, upstream_health_metrics } },
  ];
  assert.equal(
    (await shown({ instances: instances(false), upstreams: () => upstreams }))['kong_upstream_target_health'],
    undefined,
  );
  const found = await shown({ instances: instances(true), upstreams: () => upstreams });
  const series = found['kong_upstream_target_health'] ?? [];
  assert.equal(series.length, 16);
  assert.deepEqual(
    series.filter(({ value }) => value === 1).map(({ labels }) => labels.join(' ')),
    [
      'checked a.test:80 10.0.0.1:80 healthy http',
      'checked a.test:80 [::1]:81 unhealthy http',
      'checked gone.test:80  dns_error http',
      'unchecked [::1]:80 10.0.0.1:80 healthchecks_off http',
    ],
  );
});
