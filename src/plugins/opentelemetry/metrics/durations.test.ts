import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMetrics } from '../../../../test/support/otlp-metrics.ts';
import { seriesZone } from '../../../plugin-kit/shared-memory/index.ts';
import { encodePoint, metricsRequest, pointTimes } from '../../../plugin-kit/telemetry/otlp/index.ts';
import type { LogContext } from '../../../plugin-sdk/index.ts';
import { testNode } from '../../../plugin-testing/index.ts';
import { durationZone, zones } from '../zones.ts';
import { openDurations } from './duration-families.ts';
import { type DurationKind, durationCells } from './duration-series.ts';
import { recordDurations } from './record-durations.ts';
import { StartTimes } from './start-times.ts';

const config = {
  metrics: { endpoint: 'http://collector/v1/metrics', push_interval: 60, node_metrics: true, request_metrics: true },
};
const service = { id: 's', name: 'users', host: 'users.internal', port: 8443, protocol: 'https', path: null, tags: [] };
const measures = { total: 20, upstream: 15, receive: 1, upstreamStatus: 200, aborted: false };

function contextOf(change: {
  readonly method?: string;
  readonly status?: number;
  readonly measures?: Partial<typeof measures>;
  readonly route?: string;
}): LogContext {
  return {
    request: { method: change.method ?? 'GET', scheme: 'https', httpVersion: '2' },
    response: { status: change.status ?? 200 },
    route: { id: 'r', name: change.route ?? 'all', tags: [] },
    service,
    measures: { ...measures, ...change.measures },
  } as unknown as LogContext;
}

function open(entries: number) {
  const memories = new Map<string, SharedArrayBuffer>();
  for (const kind of ['server', 'client'] as const) {
    const { name, bytes } = seriesZone(durationZone(kind, 'i'), { entries, cells: durationCells });
    memories.set(name, new SharedArrayBuffer(bytes));
  }
  const zone = (name: string): SharedArrayBuffer => memories.get(name) as SharedArrayBuffer;
  const record = recordDurations(config, { zone, instanceId: 'i', node: testNode });
  assert.ok(record !== null);
  const read = (kind: DurationKind) => {
    const family = openDurations(kind, zone(durationZone(kind, 'i')));
    const points: Uint8Array[] = [];
    // The numbers of a series are valid until the next one.
    for (const series of family.series) points.push(encodePoint(family, series, pointTimes(1, 2)) as Uint8Array);
    return decodeMetrics(metricsRequest({ attributes: [] }, [{ family, points }]))[0]?.points ?? [];
  };
  return { record, read };
}

test('counts a duration in the bucket whose upper bound it does not exceed', () => {
  const { record, read } = open(100);
  for (const total of [5, 5.001, 10_000, 10_001]) record(contextOf({ measures: { total } }));
  const [point] = read('server');
  assert.deepEqual([point?.buckets[0], point?.buckets[1], point?.buckets.at(-2), point?.buckets.at(-1)], [1, 1, 1, 1]);
  assert.deepEqual([point?.count, point?.sum], [4, 20.011001]);
  const [backend] = read('client');
  assert.deepEqual([backend?.count, backend?.sum.toFixed(3)], [4, '0.064']);
  assert.deepEqual(backend?.attributes, {
    'http.request.method': 'GET',
    'url.scheme': 'https',
    'server.address': 'users.internal',
    'server.port': 8443,
    'http.response.status_code': 200,
  });
});

test('distinguishes errors of the gateway and of the backend', () => {
  const { record, read } = open(100);
  const none = { upstreamStatus: 0 };
  record(contextOf({ status: 504, measures: none }));
  record(contextOf({ status: 503, measures: none }));
  record(contextOf({ status: 500, measures: none }));
  record(contextOf({ status: 200, measures: { ...none, aborted: true } }));
  record(contextOf({ status: 404, measures: { upstreamStatus: 404 } }));
  record(contextOf({ status: 403, measures: { upstream: -1, upstreamStatus: 0 } }));
  const errors = (kind: DurationKind) => read(kind).map(({ attributes }) => attributes['error.type'] ?? '');
  assert.deepEqual(errors('server'), ['504', '503', '500', 'aborted', '', '']);
  assert.deepEqual(errors('client'), ['timeout', 'unavailable', '_OTHER', 'aborted', '404']);
});

test('counts unknown methods as one series, and excess combinations as one', () => {
  const { record, read } = open(20);
  for (let at = 0; at < 50; at++) record(contextOf({ method: `M${at}` }));
  assert.deepEqual(
    read('server').map(({ attributes, count }) => [attributes['http.request.method'], count]),
    [['_OTHER', 50]],
  );
  const total = 5000;
  for (let at = 0; at < total; at++) record(contextOf({ route: `route-${at}`, status: 200 + (at % 300) }));
  const points = read('server');
  assert.equal(
    points.reduce((sum, { count }) => sum + count, 0),
    total + 50,
  );
  const [lost, ...more] = points.filter(({ attributes }) => 'otel.metric.overflow' in attributes);
  assert.deepEqual([Object.keys(lost?.attributes ?? {}), more.length], [['otel.metric.overflow'], 0]);
  assert.ok((lost?.count ?? 0) > 1000 && points.length < total);
  assert.ok(read('client').every(({ attributes }) => !('otel.metric.overflow' in attributes)));
});

test('records nothing and uses no memory when disabled', () => {
  const tools = { zone: () => assert.fail(), instanceId: 'i', node: testNode };
  for (const change of [{ endpoint: null }, { request_metrics: false }]) {
    const other = { metrics: { ...config.metrics, ...change } };
    assert.equal(recordDurations(other, tools), null);
    assert.deepEqual(zones(other, 'i'), []);
  }
  assert.equal(zones(config, 'i').length, 2);
});

test('restarts decreased sums at the time of the previous ones', () => {
  const starts = new StartTimes(100);
  starts.observe('a', 5, 200);
  starts.observe('a', 5, 300);
  assert.equal(starts.of('a'), 100);
  starts.observe('a', 4, 400);
  assert.deepEqual([starts.of('a'), starts.of('b')], [300, 100]);
});
