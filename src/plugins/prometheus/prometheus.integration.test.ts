import assert from 'node:assert/strict';
import { createConnection, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { type MetricsPage, parseMetrics } from '../../../test/support/metrics-text.ts';
import { answer, answerEach } from '../../../test/support/raw-backend.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { startStreamRig } from '../../../test/support/stream-rig.ts';
import { until } from '../../../test/support/until.ts';

const ender = new URL('../../../test/support/plugins/ender.ts', import.meta.url).pathname;
const all = {
  status_code_metrics: true,
  latency_metrics: true,
  bandwidth_metrics: true,
  upstream_health_metrics: true,
  per_consumer: true,
};
let rig: Rig;

before(async () => {
  rig = await startRig({
    script: answerEach(({ target }) => (target.endsWith('/never') ? null : answer('ok'))),
    settings: { plugins: ['prometheus', 'key-auth', 'request-termination', 'rate-limiting', ender], workers: 2 },
  });
});
after(() => rig.close());

async function page(base = rig.gateway.statusUrl, accept = '*/*'): Promise<MetricsPage> {
  const response = await fetch(`${base}/metrics`, { headers: { accept } });
  assert.equal(response.status, 200);
  return parseMetrics(await response.text());
}

async function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(rig.gateway.proxyUrl + path, { headers: { connection: 'close', ...headers } });
  await response.arrayBuffer();
  return response.status;
}

/** The counted requests, once there are this many. */
async function counted(labels: Readonly<Record<string, string>>, number: number): Promise<MetricsPage> {
  let found = await page();
  await until(async () => {
    found = await page();
    return found.values('kong_http_requests_total', labels).reduce((sum, one) => sum + one, 0) >= number;
  });
  return found;
}

test('explains on the page how to enable the plugin; the first instance enables it', async () => {
  for (const base of [rig.gateway.statusUrl, rig.gateway.adminUrl]) {
    const none = await fetch(`${base}/metrics`);
    assert.equal(none.status, 404);
    assert.match(await none.text(), /enable the plugin 'prometheus'/);
  }
  const { id } = await rig.write('POST', '/plugins', { name: 'prometheus' });
  const found = await page(rig.gateway.adminUrl);
  assert.equal(found.value('kong_datastore_reachable'), 1);
  assert.equal(found.values('kong_http_requests_total').length, 0);
  assert.ok(found.value('kong_nginx_connections_total', { subsystem: 'http', state: 'total' }) >= 0);
  assert.equal(found.types.get('kong_nginx_connections_total'), 'gauge');
  assert.equal(found.values('kong_memory_workers_lua_vms_bytes', { kong_subsystem: 'http' }).length, 2);
  await rig.write('PATCH', `/plugins/${id}`, { config: all });
});

test('counts requests of routes by status and source, exactly over all workers', async () => {
  await rig.write('PUT', '/services/backend/routes/counted', { paths: ['/counted'] });
  await rig.write('PUT', '/services/backend/routes/ended', { paths: ['/ended'] });
  await rig.write('POST', '/routes/ended/plugins', { name: 'request-termination', config: { status_code: 418 } });
  await Promise.all(Array.from({ length: 40 }, (_, at) => ask(at % 4 === 0 ? '/ended' : '/counted')));
  const found = await counted({ service: 'backend' }, 40);
  const labels = { service: 'backend', route: 'counted', workspace: 'default', consumer: '' };
  assert.equal(found.value('kong_http_requests_total', { ...labels, code: '200', source: 'service' }), 30);
  assert.equal(found.value('kong_http_requests_total', { ...labels, route: 'ended', code: '418', source: 'kong' }), 10);
  const { labels: first } = found.samples.find(({ name }) => name === 'kong_http_requests_total') ?? assert.fail();
  assert.deepEqual(Object.keys(first), ['service', 'route', 'code', 'source', 'workspace', 'consumer']);
  const times = { service: 'backend', route: 'counted', workspace: 'default' };
  for (const name of ['kong_kong_latency_ms', 'kong_upstream_latency_ms', 'kong_request_latency_ms']) {
    assert.equal(found.value(`${name}_count`, times), 30);
    assert.equal(found.value(`${name}_bucket`, { ...times, le: '+Inf' }), 30);
    const buckets = found.values(`${name}_bucket`, times);
    assert.equal(buckets.length, name === 'kong_kong_latency_ms' ? 18 : 14);
    assert.deepEqual(
      [...buckets],
      [...buckets].sort((a, b) => a - b),
    );
    assert.equal(found.types.get(name), 'histogram');
  }
  // Nothing was sent to a backend.
  assert.equal(found.values('kong_upstream_latency_ms_count', { route: 'ended' }).length, 0);
  assert.equal(found.value('kong_kong_latency_ms_count', { route: 'ended' }), 10);
  assert.ok(found.value('kong_bandwidth_bytes', { route: 'counted', direction: 'egress' }) > 30 * 50);
  assert.ok(found.value('kong_bandwidth_bytes', { route: 'counted', direction: 'ingress' }) > 30 * 30);
});

test('shows memory usage in GET /status', async () => {
  const { body } = await rig.gateway.admin('GET', '/status');
  const zones = (body['zones'] as readonly Readonly<Record<string, unknown>>[]).filter(
    ({ plugin }) => plugin === 'prometheus',
  );
  assert.deepEqual(zones.map(({ name, kind }) => `${name} ${kind}`).sort(), [
    'bytes series',
    'requests series',
    'times series',
  ]);
  for (const { used, capacity, taken, bytes } of zones) {
    assert.ok(Number(used) > 0 && Number(taken) > 0 && Number(taken) <= Number(capacity));
    assert.ok(Number(capacity) < Number(bytes));
  }
});

test('labels the consumer only if configured, and routes without a name by their id', async () => {
  const { id } = await rig.write('POST', '/services/backend/routes', { paths: ['/keyed'] });
  await rig.write('POST', `/routes/${id}/plugins`, { name: 'key-auth' });
  const ada = await rig.write('POST', '/consumers', { username: 'ada "the\\first"' });
  await rig.write('POST', `/consumers/${ada['id']}/key-auth`, { key: 'secret-1' });
  assert.equal(await ask('/keyed', { apikey: 'secret-1' }), 200);
  assert.equal(await ask('/keyed'), 401);
  const found = await counted({ route: String(id) }, 2);
  assert.equal(
    found.value('kong_http_requests_total', { route: String(id), code: '200', consumer: 'ada "the\\first"' }),
    1,
  );
  assert.equal(found.value('kong_http_requests_total', { route: String(id), code: '401', consumer: '' }), 1);
  const { id: plain } = await rig.write('POST', '/services/backend/routes', { paths: ['/plain'] });
  await rig.write('POST', `/routes/${plain}/plugins`, { name: 'key-auth' });
  await rig.write('POST', `/routes/${plain}/plugins`, {
    name: 'prometheus',
    config: { status_code_metrics: true, bandwidth_metrics: false },
  });
  assert.equal(await ask('/plain', { apikey: 'secret-1' }), 200);
  const later = await counted({ route: String(plain) }, 1);
  assert.equal(later.value('kong_http_requests_total', { route: String(plain), consumer: '' }), 1);
  assert.equal(later.values('kong_bandwidth_bytes', { route: String(plain) }).length, 0);
});

test('counts 499 when the client disconnects before the answer', async () => {
  await rig.write('PUT', '/services/backend/routes/left', { paths: ['/left'] });
  const socket = createConnection(rig.gateway.proxyPort, '127.0.0.1');
  const seen = rig.backend.requests.length;
  socket.write('GET /left/never HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => rig.backend.requests.length > seen);
  socket.destroy();
  const found = await counted({ route: 'left' }, 1);
  assert.equal(found.value('kong_http_requests_total', { route: 'left', code: '499', source: 'kong' }), 1);
});

test('does not count requests without a route, so clients cannot create series', async () => {
  const { id } = await rig.write('PATCH', '/routes/all', { paths: ['/all'] });
  const before = (await page()).samples.filter(({ name }) => name === 'kong_http_requests_total').length;
  for (let at = 0; at < 20; at++) assert.equal(await ask(`/nowhere/${at}`, { 'user-agent': `a${at}` }), 404);
  for (let at = 0; at < 20; at++)
    assert.equal(await ask(`/all/${at}?x=${at}`, { 'x-consumer-username': `b${at}` }), 200);
  const found = await counted({ route: 'all' }, 20);
  assert.equal(found.samples.filter(({ name }) => name === 'kong_http_requests_total').length, before + 1);
  assert.equal(found.value('kong_http_requests_total', { route: 'all' }), 20);
  assert.notEqual(id, undefined);
});

test('keeps the counts of a worker that died', async () => {
  await rig.write('PUT', '/services/backend/routes/deadly', { paths: ['/deadly'] });
  await rig.write('POST', '/routes/deadly/plugins', { name: 'ender' });
  let passed = 0;
  for (let death = 1; death <= 3; death++) {
    for (let at = 0; at < 10; at++) {
      assert.equal(await ask('/deadly'), 200);
      passed++;
    }
    await counted({ route: 'deadly' }, passed);
    await assert.rejects(ask('/deadly', { 'x-end-worker': '1' }));
    await until(async () => {
      const found = await page();
      return (
        found.value('sluicegate_worker_restarts_total') === death &&
        found.value('sluicegate_workers', { state: 'running' }) === 2
      );
    });
  }
  assert.equal(await ask('/deadly'), 200);
  const found = await counted({ route: 'deadly' }, passed + 1);
  assert.equal(found.value('kong_http_requests_total', { route: 'deadly', code: '200' }), passed + 1);
  assert.equal(found.value('kong_request_latency_ms_count', { route: 'deadly' }), passed + 1);
});

test('reports targets of upstreams by their state', async () => {
  await rig.write('PUT', '/upstreams/checked', {
    healthchecks: { passive: { unhealthy: { tcp_failures: 1 } } },
  });
  const target = `127.0.0.1:${rig.backend.port}`;
  await rig.write('POST', '/upstreams/checked/targets', { target });
  await rig.write('PUT', '/upstreams/unchecked', {});
  await rig.write('POST', '/upstreams/unchecked/targets', { target });
  const state = async (upstream: string) => {
    const found = await page();
    return found.samples
      .filter(({ name, labels }) => name === 'kong_upstream_target_health' && labels['upstream'] === upstream)
      .filter(({ value }) => value === 1)
      .map(({ labels }) => labels);
  };
  await until(async () => (await state('checked')).length === 1 && (await state('unchecked')).length === 1);
  assert.deepEqual(await state('checked'), [
    { upstream: 'checked', target, address: target, state: 'healthy', subsystem: 'http' },
  ]);
  assert.equal((await state('unchecked'))[0]?.['state'], 'healthchecks_off');
  const found = await page();
  assert.equal(found.values('kong_upstream_target_health', { upstream: 'checked', state: 'unhealthy' })[0], 0);
  assert.equal(found.values('kong_upstream_target_health', { upstream: 'checked' }).length, 4);
});

test('counts under overflow when the memory is full', async () => {
  const config = { status_code_metrics: true, latency_metrics: true, bandwidth_metrics: true, max_series: 100 };
  const { id } = await rig.write('POST', '/services/backend/plugins', { name: 'prometheus', config });
  const names = Array.from({ length: 400 }, (_, at) => `many-${at}-${'x'.repeat(250)}`);
  for (const name of names) await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
  for (const name of names) assert.equal(await ask(`/${name}`), 200);
  const of = (found: MetricsPage) =>
    found.samples
      .filter(
        ({ name, labels }) => name === 'kong_http_requests_total' && /^(many|overflow)/.test(labels['route'] ?? ''),
      )
      .reduce((sum, { value }) => sum + value, 0);
  let found = await page();
  await until(async () => {
    found = await page();
    return of(found) >= 400;
  });
  assert.equal(of(found), 400);
  const lost = found.value('kong_http_requests_total', {
    route: 'overflow',
    service: 'overflow',
    consumer: 'overflow',
  });
  assert.ok(lost > 50);
  assert.ok(found.value('kong_nginx_metric_errors_total') >= lost);
  assert.ok(found.value('kong_request_latency_ms_count', { route: 'overflow' }) > 0);
  assert.equal((await rig.gateway.admin('DELETE', `/plugins/${id}`)).status, 204);
});

test('serves OpenMetrics on request', async () => {
  const ask = async (accept: string) => {
    const response = await fetch(`${rig.gateway.statusUrl}/metrics`, { headers: { accept } });
    return [response.headers.get('content-type') ?? '', await response.text()] as const;
  };
  const [type, text] = await ask(
    'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1',
  );
  assert.equal(type, 'application/openmetrics-text; version=1.0.0; charset=utf-8');
  assert.ok(text.endsWith('\n# EOF\n'));
  assert.match(text, /^# TYPE kong_http_requests counter$/m);
  assert.match(text, /^kong_http_requests_total\{/m);
  assert.match(text, /^# TYPE kong_bandwidth_bytes unknown\n# UNIT kong_bandwidth_bytes bytes$/m);
  assert.match(text, /^kong_bandwidth_bytes\{/m);
  parseMetrics(text);
  const [plain, old] = await ask('text/plain');
  assert.equal(plain, 'text/plain; charset=UTF-8');
  assert.ok(!old.includes('# EOF') && old.includes('# TYPE kong_http_requests_total counter'));
  const head = await fetch(`${rig.gateway.statusUrl}/metrics`, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get('content-type'), 'text/plain; charset=UTF-8');
});

test('counts streams for instances with their protocol', async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => echo.once('listening', resolve));
  await using streams = await startStreamRig([''], { plugins: ['prometheus'], workers: 1 });
  const { port } = echo.address() as { readonly port: number };
  await streams.route('echo', { port }, { destinations: [{ port: streams.ports[0] }] });
  await streams.write('POST', '/plugins', { name: 'prometheus', protocols: ['http', 'tcp'], config: all });
  const socket = createConnection(streams.ports[0] ?? 0, '127.0.0.1');
  socket.write('hello');
  await new Promise((resolve) => socket.once('data', resolve));
  socket.end();
  const { statusUrl } = streams.gateway;
  await until(async () => (await page(statusUrl)).values('kong_stream_sessions_total').length > 0);
  const found = await page(statusUrl);
  const labels = { service: 'echo', route: 'echo', workspace: 'default' };
  assert.equal(found.value('kong_stream_sessions_total', { ...labels, code: '200', source: 'service' }), 1);
  assert.equal(found.value('kong_session_duration_ms_count', labels), 1);
  assert.equal(found.value('kong_bandwidth_bytes', { route: 'echo', direction: 'ingress' }), 5);
  assert.equal(found.value('kong_nginx_connections_total', { subsystem: 'stream', state: 'accepted' }), 1);
  assert.equal(found.values('kong_http_requests_total').length, 0);
  echo.close();
});
