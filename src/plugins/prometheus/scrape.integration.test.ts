import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { after, before, test } from 'node:test';
import { parseMetrics } from '../../../test/support/metrics-text.ts';
import {
  checkWithPromtool,
  skipWithoutPrometheus,
  startPrometheus,
  type TestPrometheus,
} from '../../../test/support/prometheus.ts';
import { answer, answerEach } from '../../../test/support/raw-backend.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

/*
 * A real Prometheus scrapes the gateway in both formats and answers the queries of the published dashboards.
 */

const skip = skipWithoutPrometheus();
/** Username of a consumer with every special character of the formats. */
const hostile = 'ada "b\\c"\nkong_up{x="1"} 1\n# EOF\r\t\u2028ü';
let rig: Rig;
let relay: Server;
let prometheus: TestPrometheus;

before(async () => {
  if (skip !== false) return;
  rig = await startRig({
    script: answerEach(() => answer('ok')),
    settings: { plugins: ['prometheus', 'key-auth'], workers: 2 },
  });
  const flags = [
    'status_code_metrics',
    'latency_metrics',
    'bandwidth_metrics',
    'upstream_health_metrics',
    'per_consumer',
  ];
  await rig.write('POST', '/plugins', {
    name: 'prometheus',
    config: Object.fromEntries(flags.map((flag) => [flag, true])),
  });
  await rig.write('PUT', '/upstreams/pool', {});
  await rig.write('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${rig.backend.port}` });
  // The same page in the text format, which this Prometheus does not request when OpenMetrics is available.
  relay = createServer(async (_request, response) => {
    try {
      const page = await fetch(`${rig.gateway.statusUrl}/metrics`, { headers: { accept: 'text/plain' } });
      const text = await page.text();
      response.writeHead(200, { 'content-type': page.headers.get('content-type') ?? '' }).end(text);
    } catch {
      // The gateway ended during a scrape. While it runs, Prometheus reports a scrape that fails.
      response.destroy();
    }
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => relay.once('listening', resolve));
  const { port } = relay.address() as { readonly port: number };
  prometheus = await startPrometheus({
    jobs: { gateway: `${rig.gateway.statusUrl}/metrics`, text: `http://127.0.0.1:${port}/metrics` },
  });
});
after(async () => {
  await prometheus?.stop();
  relay?.closeAllConnections();
  relay?.close();
  await rig?.close();
});

async function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  await (await fetch(rig.gateway.proxyUrl + path, { headers: { connection: 'close', ...headers } })).arrayBuffer();
}

/** Waits until a query has one answer with the expected value. */
async function untilValue(expression: string, wanted: (value: number) => boolean): Promise<void> {
  let last: unknown = null;
  await until(async () => {
    const found = await prometheus.query(expression);
    last = found;
    return found.length === 1 && wanted(found[0]?.value ?? Number.NaN);
  }, 15_000).catch(() => assert.fail(`${expression}: ${JSON.stringify(last)}`));
}

async function untilScrapedWell(): Promise<void> {
  await until(
    async () => Object.values(await prometheus.targets()).every(({ health }) => health !== 'unknown'),
    15_000,
  );
  for (const [job, { health, lastError }] of Object.entries(await prometheus.targets())) {
    assert.equal(`${job} ${health} ${lastError}`, `${job} up `);
  }
}

test('counts, rates and quantiles match the requests, in both formats', { skip }, async () => {
  await untilScrapedWell();
  for (let at = 0; at < 25; at++) await ask('/x');
  for (const job of ['gateway', 'text']) {
    const labels = `{job="${job}",service="backend",route="all",code="200",source="service",workspace="default"}`;
    await untilValue(`sum(kong_http_requests_total${labels})`, (value) => value === 25);
  }
  // Several scrapes, so that rates exist.
  const end = performance.now() + 1500;
  while (performance.now() < end) await ask('/x');
  await untilValue('sum(rate(kong_http_requests_total{job="gateway"}[20s]))', (value) => value > 0);
  await untilValue(
    'histogram_quantile(0.95, sum by (le) (rate(kong_request_latency_ms_bucket{job="gateway"}[20s])))',
    (value) => value > 0 && value <= 60_000,
  );
  await untilValue('sum(rate(kong_bandwidth_bytes{job="gateway",direction="egress"}[20s]))', (value) => value > 0);
  await untilValue(
    'kong_upstream_target_health{job="gateway",upstream="pool",state="healthchecks_off"}',
    (value) => value === 1,
  );
  const both = await prometheus.query('count by (job) ({__name__=~"kong_.+|sluicegate_.+|process_.+"})');
  assert.equal(both.length, 2);
});

/** The queries of a dashboard for Kong, with its variables replaced. */
const panels = [
  'sum(rate(kong_http_requests_total{instance=~".+"}[20s]))',
  'sum(rate(kong_http_requests_total{service=~"backend",route=~".+"}[20s])) by (service,code)',
  'sum(rate(kong_http_requests_total{service=~"backend"}[20s])) by (route)',
  'histogram_quantile(0.90, sum(rate(kong_kong_latency_ms_bucket{service=~".+"}[20s])) by (le))',
  'histogram_quantile(0.95, sum(rate(kong_upstream_latency_ms_bucket{service=~".+"}[20s])) by (service,le))',
  'histogram_quantile(0.99, sum(rate(kong_request_latency_ms_bucket{route=~".+"}[20s])) by (route,le))',
  'sum(rate(kong_bandwidth_bytes{direction="ingress"}[20s]))',
  'sum(rate(kong_bandwidth_bytes{direction="egress"}[20s])) by (service)',
  'sum(kong_nginx_connections_total{state=~"active|reading|writing|waiting"}) by (state)',
  'sum(kong_nginx_connections_total{state="total",subsystem="http"})',
  'kong_memory_lua_shared_dict_bytes / kong_memory_lua_shared_dict_total_bytes * 100 > 0',
  'kong_memory_workers_lua_vms_bytes',
  'kong_datastore_reachable == 1',
  'kong_node_info',
  'sum(kong_upstream_target_health{state="healthy"}) by (upstream, target)',
  'label_replace(kong_nginx_timers{state="pending"}, "x", "$1", "state", "(.*)")',
];

test('every panel has data', { skip }, async () => {
  for (const panel of panels) {
    const found = await prometheus.query(panel);
    assert.ok(found.length > 0, panel);
    assert.ok(
      found.some(({ value }) => Number.isFinite(value)),
      panel,
    );
  }
});

test('names and labels are the same in both formats', { skip }, async () => {
  const names = async (job: string): Promise<readonly string[]> => {
    const found = await prometheus.query(`{job="${job}",__name__=~"kong_.+|sluicegate_.+|process_.+"}`);
    return found.map(({ labels: { instance: _i, job: _j, ...rest } }) => JSON.stringify(rest)).sort();
  };
  await untilScrapedWell();
  await until(async () => JSON.stringify(await names('gateway')) === JSON.stringify(await names('text')));
  assert.ok((await names('gateway')).length > 60);
  const types = await prometheus.types();
  assert.equal(types['kong_request_latency_ms'], 'histogram');
});

test('special characters of names are escaped in labels', { skip }, async () => {
  await rig.write('PUT', '/services/backend/routes/keyed', { paths: ['/keyed'] });
  await rig.write('POST', '/routes/keyed/plugins', { name: 'key-auth' });
  const { id } = await rig.write('POST', '/consumers', { username: hostile });
  await rig.write('POST', `/consumers/${id}/key-auth`, { key: 'k' });
  await ask('/keyed', { apikey: 'k' });
  await untilValue('kong_http_requests_total{job="gateway",route="keyed",consumer!=""}', (value) => value === 1);
  await untilValue('kong_http_requests_total{job="text",route="keyed",consumer!=""}', (value) => value === 1);
  for (const { labels } of await prometheus.query('kong_http_requests_total{route="keyed",consumer!=""}')) {
    assert.equal(labels['consumer'], hostile);
  }
  assert.equal((await prometheus.query('kong_up')).length, 0);
  await untilScrapedWell();
});

test('promtool accepts the page', { skip }, async () => {
  const page = await (await fetch(`${rig.gateway.statusUrl}/metrics`)).text();
  parseMetrics(page);
  const found = checkWithPromtool(page)
    .split('\n')
    // Kong's names do not follow the naming advice of promtool.
    .filter((line) => line !== '' && !line.startsWith('kong_'));
  assert.deepEqual(found, []);
});
