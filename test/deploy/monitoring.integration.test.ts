import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { findFiles, root } from '../../scripts/lib/files.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { skipWithoutPrometheus, startPrometheus, type TestPrometheus } from '../support/prometheus.ts';
import { until } from '../support/until.ts';

/* A real Prometheus scrapes a node with traffic of every kind, and answers all queries of deploy/grafana. */

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface DashboardModel {
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

const skip = skipWithoutPrometheus();
const dashboards = findFiles('deploy/grafana/dashboards/*.json').map(
  (path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as DashboardModel,
);

describe('the dashboards and alerts', { skip }, () => {
  let gateway: TestGateway;
  let backend: TestBackend;
  let prometheus: TestPrometheus;

  before(async () => {
    backend = await startBackend({
      handler: (request, response) => {
        response.writeHead(request.url?.startsWith('/fail') ? 500 : 200, { 'content-type': 'text/plain' }).end('ok');
      },
    });
    gateway = await startTestGateway();
    await configure();
    prometheus = await startPrometheus({ jobs: { sluicegate: `${gateway.statusUrl}/metrics` } });
  });
  after(async () => {
    await prometheus?.stop();
    await gateway?.stop();
    await backend?.close();
  });

  async function create(path: string, body: unknown): Promise<void> {
    const answer = await gateway.admin('POST', path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  }

  async function configure(): Promise<void> {
    const flags = ['status_code_metrics', 'latency_metrics', 'bandwidth_metrics', 'upstream_health_metrics'];
    await create('/plugins', { name: 'prometheus', config: Object.fromEntries(flags.map((flag) => [flag, true])) });
    await create('/upstreams', { name: 'pool', healthchecks: { passive: { unhealthy: { tcp_failures: 1 } } } });
    await create('/upstreams/pool/targets', { target: `127.0.0.1:${backend.port}` });
    await create('/services', { name: 'good', host: 'pool', port: 80 });
    await create('/services', { name: 'bad', url: `http://localhost:${backend.port}/fail` });
    for (const name of ['good', 'bad']) await create(`/services/${name}/routes`, { name, paths: [`/${name}`] });
    await create('/services/good/routes', { name: 'limited', paths: ['/limited'] });
    await create('/routes/limited/plugins', { name: 'rate-limiting', config: { minute: 1, policy: 'local' } });
    await create('/services/good/routes', { name: 'cached', paths: ['/cached'] });
    await create('/routes/cached/plugins', { name: 'proxy-cache', config: { strategy: 'memory' } });
    await create('/services/bad/plugins', {
      name: 'circuit-breaker',
      config: { per: ['service'], consecutive_failures: 3 },
    });
  }

  async function send(): Promise<void> {
    for (const path of ['/good', '/bad', '/limited', '/cached', '/nowhere']) {
      await (await fetch(gateway.proxyUrl + path)).arrayBuffer();
    }
  }

  function filled(expr: string): string {
    return expr.replaceAll('$__rate_interval', '30s').replace(/\$(?:service|route|instance|upstream)\b/g, '.*');
  }

  /** Quotes are in texts, and the rest has no other variables. */
  it('use no variable that the test does not replace', () => {
    for (const { panels } of dashboards) {
      for (const { expr } of panels.flatMap(({ targets = [] }) => targets)) assert.doesNotMatch(filled(expr), /\$/);
    }
  });

  it('return data for every query', async () => {
    const queries = dashboards.flatMap(({ title, panels }) =>
      panels.flatMap((panel) => (panel.targets ?? []).map(({ expr }) => ({ panel: `${title}: ${panel.title}`, expr }))),
    );
    assert.ok(queries.length > 60, `${queries.length} queries`);
    const missing = new Map(queries.map(({ panel, expr }) => [expr, panel]));
    await until(async () => {
      await send();
      for (const expr of missing.keys()) {
        const samples = await prometheus.query(filled(expr));
        // A quotient of zeros is not a number.
        if (samples.some(({ value }) => !Number.isNaN(value))) missing.delete(expr);
      }
      return missing.size === 0;
    }, 45_000).catch(() => assert.deepEqual([...missing.entries()], []));
  });

  it('offer values for their variables', async () => {
    for (const { templating } of dashboards) {
      for (const { query } of templating.list) {
        if (typeof query === 'string') continue;
        const [, metric = '', label = ''] = /^label_values\((\w+),(\w+)\)$/.exec(query.query) ?? [];
        const samples = await prometheus.query(`count by (${label}) (${metric})`);
        assert.ok(
          samples.some(({ labels }) => labels[label] !== undefined),
          query.query,
        );
      }
    }
  });

  it('alert on metrics that the node has', async () => {
    const { groups } = parse(readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8')) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
    };
    for (const { alert, expr } of groups.flatMap(({ rules }) => rules)) {
      await prometheus.query(expr);
      const names = expr.match(/\b(?:kong|sluicegate|process)_\w+|\bup\b/g) ?? [];
      assert.notEqual(names.length, 0, alert);
      for (const name of names) {
        assert.notEqual((await prometheus.query(`count(${name})`)).length, 0, `${alert}: ${name} does not exist`);
      }
    }
  });

  it('serve the metric by which Kubernetes scales', async () => {
    const adapter = parse(readFileSync(join(root, 'deploy/prometheus/adapter-values.yml'), 'utf8'));
    const [{ seriesQuery, metricsQuery }] = adapter.rules.custom;
    const query = metricsQuery
      .replace('<<.Series>>', seriesQuery.slice(0, seriesQuery.indexOf('{')))
      .replace('<<.LabelMatchers>>', 'job="sluicegate"')
      .replace('<<.GroupBy>>', 'instance');
    const [sample] = await prometheus.query(query);
    assert.ok((sample?.value ?? 0) > 0, query);
  });

  it('alert as their tests say, and the scrape config is valid', () => {
    const folder = join(root, 'deploy/prometheus');
    for (const argv of [
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
      ['check', 'config', '--syntax-only', 'prometheus.yml'],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', argv, { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 0, `${stdout}${stderr}`);
    }
  });

  it('have a test for each alert', () => {
    const alerts = readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8').match(/(?<=- alert: )\w+/g) ?? [];
    const tests = readFileSync(join(root, 'deploy/prometheus/alerts.test.yml'), 'utf8');
    for (const alert of alerts) assert.ok(tests.includes(`alertname="${alert}"`), alert);
  });
});
