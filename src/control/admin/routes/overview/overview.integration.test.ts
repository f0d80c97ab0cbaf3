import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBackend } from '../../../../../test/support/backend.ts';
import { CertificateAuthority } from '../../../../../test/support/certificate-authority.ts';
import { startTestGateway, type TestGateway } from '../../../../../test/support/gateway.ts';
import { activeChecks, startHealthRig } from '../../../../../test/support/health-rig.ts';
import { startRig } from '../../../../../test/support/rig.ts';
import { until } from '../../../../../test/support/until.ts';
import { openEvents } from './event-client.fixture.ts';

type Shown = Readonly<Record<string, unknown>>;

interface Listed {
  readonly total: number;
  readonly data: readonly Shown[];
}

interface Overview {
  readonly traffic: Readonly<Record<'last_second' | 'last_10_seconds' | 'last_minute', Shown>>;
  readonly usage:
    | null
    | ({
        readonly totals: { readonly requests: number };
        readonly statuses: readonly { readonly status: number; readonly requests: number }[];
        readonly limited: readonly Shown[];
      } & Readonly<
        Record<
          'routes' | 'services' | 'consumers',
          Readonly<Record<'by_requests' | 'by_errors' | 'by_latency', readonly Shown[]>>
        >
      >);
  readonly failing_targets: Listed;
  readonly circuits: Listed;
  readonly limits: Listed;
  readonly workers: { readonly listening: number; readonly data: readonly Shown[] };
  readonly nodes: Listed & { readonly ready: number };
  readonly certificates: Listed;
  readonly config: { readonly version: number; readonly failures: Listed };
  readonly database: { readonly kind: string; readonly reachable: boolean };
  readonly log: { readonly since_start: Readonly<Record<string, number>>; readonly data: readonly Shown[] };
  readonly descriptors: { readonly open: number };
}

async function overview(gateway: TestGateway): Promise<Overview> {
  const { status, body } = await gateway.admin('GET', '/overview');
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Overview;
}

/** The overview, as soon as the condition holds. */
async function overviewWith(gateway: TestGateway, condition: (shown: Overview) => boolean): Promise<Overview> {
  let shown = await overview(gateway);
  await until(async () => {
    shown = await overview(gateway);
    return condition(shown);
  });
  return shown;
}

async function ask(
  gateway: TestGateway,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const answer = await fetch(gateway.proxyUrl + path, { headers, redirect: 'manual' });
  await answer.arrayBuffer();
  return answer.status;
}

test('every request is in the seconds and in the lists exactly once, with the ids behind it', async () => {
  await using rig = await startRig({ settings: { workers: 2 }, route: { paths: ['/api'] } });
  const { gateway } = rig;
  const plugin = await rig.write('POST', '/routes/all/plugins', { name: 'key-auth' });
  const ada = await rig.write('POST', '/consumers', { username: 'ada' });
  await rig.write('POST', '/consumers/ada/key-auth', { key: 'secret' });
  const route = await rig.write('GET', '/routes/all');
  const service = await rig.write('GET', '/services/backend');
  using live = await openEvents(`${gateway.adminUrl}/overview/live?history=0`);
  const sent = { 200: 37, 401: 11, 404: 5 };
  for (let at = 0; at < sent[200]; at++) assert.equal(await ask(gateway, '/api', { apikey: 'secret' }), 200);
  for (let at = 0; at < sent[401]; at++) assert.equal(await ask(gateway, '/api'), 401);
  for (let at = 0; at < sent[404]; at++) assert.equal(await ask(gateway, '/nowhere'), 404);
  const sum = (name: string): number =>
    live.events('second').reduce((total, { data }) => total + Number(data[name]), 0);
  await until(() => sum('requests') >= 53);
  const statuses = live.events('second').map(({ data }) => data['statuses'] as Record<string, number>);
  const of = (kind: string): number => statuses.reduce((total, each) => total + (each[kind] ?? 0), 0);
  assert.deepEqual([sum('requests'), of('2xx'), of('4xx'), of('5xx')], [53, 37, 16, 0]);

  const shown = await overviewWith(gateway, ({ usage }) => usage?.totals.requests === 53);
  const { last_minute: minute } = shown.traffic;
  assert.deepEqual([minute['requests'], minute['errors']], [53, { '4xx': 16, '5xx': 0 }]);
  assert.deepEqual([minute['bytes_in'], minute['bytes_out']], [sum('bytes_in'), sum('bytes_out')]);
  assert.ok(Math.abs(Number(minute['requests_per_second']) - 53 / Number(minute['seconds'])) < 0.1);
  const { usage } = shown;
  assert.ok(usage !== null);
  assert.deepEqual(
    usage.statuses.map(({ status, requests }) => [status, requests]),
    [
      [200, 37],
      [401, 11],
      [404, 5],
    ],
  );
  const lines = (list: readonly Shown[], name: string) => list.map((row) => [row[name], row['requests']]);
  assert.deepEqual(lines(usage.routes.by_requests, 'route'), [
    [{ id: route['id'], name: 'all' }, 48],
    [null, 5],
  ]);
  assert.deepEqual(lines(usage.services.by_requests, 'service')[0], [{ id: service['id'], name: 'backend' }, 48]);
  assert.deepEqual(lines(usage.consumers.by_requests, 'consumer'), [
    [{ id: ada['id'], username: 'ada' }, 37],
    [null, 16],
  ]);
  assert.deepEqual(lines(usage.routes.by_errors, 'route')[0], [{ id: route['id'], name: 'all' }, 48]);
  assert.equal(usage.consumers.by_errors.length, 1);
  assert.deepEqual(usage.limited, []);
  assert.ok(typeof plugin['id'] === 'string');
  assert.equal(shown.workers.listening, 2);
  assert.ok(shown.workers.data.every(({ heap_used: heap }) => Number(heap) > 1e6));
  assert.deepEqual([shown.nodes.ready, shown.nodes.total], [1, 1]);
  await overviewWith(gateway, ({ nodes }) => typeof nodes.data[0]?.['requests_per_second'] === 'number');
  assert.deepEqual(shown.database, { kind: 'sqlite', reachable: true });
  assert.ok(shown.descriptors.open > 10);
});

test('percentiles are those of the requests, and the slowest route is the first by latency', async () => {
  await using backend = await startBackend({
    handler: (request, response) => {
      const late = request.url === '/slow' ? 250 : 0;
      setTimeout(() => response.end('ok'), late);
    },
  });
  await using rig = await startRig();
  const { gateway } = rig;
  await rig.write('PUT', '/services/delays', { url: backend.url });
  await rig.write('PUT', '/services/delays/routes/slow', { paths: ['/slow'], strip_path: false });
  await rig.write('PUT', '/services/delays/routes/fast', { paths: ['/fast'], strip_path: false });
  for (let at = 0; at < 45; at++) await ask(gateway, '/fast');
  await Promise.all(Array.from({ length: 5 }, () => ask(gateway, '/slow')));
  const shown = await overviewWith(gateway, ({ usage, traffic }) => {
    return usage?.totals.requests === 50 && traffic.last_minute['requests'] === 50;
  });
  const latency = shown.traffic.last_minute['latency'] as Record<string, number>;
  assert.ok(latency['p50']! < 200, `p50 ${latency['p50']}`);
  assert.ok(latency['p99']! >= 240 && latency['p99']! < 5_000, `p99 ${latency['p99']}`);
  const [slowest] = shown.usage?.routes.by_latency ?? [];
  assert.match(JSON.stringify(slowest?.['route']), /"slow"/);
});

test('a limit that is hit names the instance, the route and the consumer', async () => {
  await using rig = await startRig({ settings: { workers: 2 } });
  const { gateway } = rig;
  await rig.write('POST', '/routes/all/plugins', { name: 'key-auth' });
  const ada = await rig.write('POST', '/consumers', { username: 'ada' });
  await rig.write('POST', '/consumers/ada/key-auth', { key: 'secret' });
  const limit = await rig.write('POST', '/routes/all/plugins', {
    name: 'rate-limiting',
    config: { minute: 3, policy: 'local' },
  });
  await rig.write('PUT', '/services/backend/routes/other', { paths: ['/other'] });
  const unused = await rig.write('POST', '/routes/other/plugins', { name: 'quotas', config: { day: 100 } });
  const quota = await rig.write('PUT', '/services/backend/routes/quota', { paths: ['/quota'] });
  const used = await rig.write('POST', '/routes/quota/plugins', { name: 'quotas', config: { day: 1 } });
  const { id: route } = await rig.write('GET', '/routes/all');
  const statuses: number[] = [];
  for (let at = 0; at < 10; at++) statuses.push(await ask(gateway, '/', { apikey: 'secret' }));
  for (let at = 0; at < 3; at++) await ask(gateway, '/quota');
  await ask(gateway, '/other');
  const rejected = statuses.filter((status) => status === 429).length;
  assert.ok(rejected >= 4, statuses.join());
  const shown = await overviewWith(gateway, ({ limits, usage }) => {
    return limits.total === 2 && usage?.limited.length === 2 && limits.data.some((hit) => hit['rejected'] === rejected);
  });
  const hits = new Map(shown.limits.data.map((hit) => [(hit['plugin'] as { id: string }).id, hit]));
  const hit = hits.get(String(limit['id']));
  assert.deepEqual(
    [hit?.['plugin'], hit?.['rejected'], hit?.['delayed']],
    [{ id: limit['id'], name: 'rate-limiting' }, rejected, 0],
  );
  assert.equal(hits.get(String(used['id']))?.['rejected'], 2);
  assert.equal(hits.has(String(unused['id'])), false);
  const [most, other] = shown.usage?.limited ?? [];
  assert.deepEqual(
    [most?.['route'], most?.['consumer'], most?.['requests']],
    [{ id: route, name: 'all' }, { id: ada['id'], username: 'ada' }, rejected],
  );
  assert.deepEqual([other?.['route'], other?.['consumer']], [{ id: quota['id'], name: 'quota' }, null]);
});

test('a target that gets no requests is shown with its upstream and the reason, until it recovers', async () => {
  let healthy = true;
  await using backend = await startBackend({
    handler: (_request, response) => {
      response.statusCode = healthy ? 200 : 500;
      response.end();
    },
  });
  const target = `127.0.0.1:${backend.port}`;
  await using rig = await startHealthRig({ targets: [target, 'none.invalid:80'], healthchecks: activeChecks() });
  const { gateway } = rig;
  const { id: upstream } = await rig.write('GET', '/upstreams/pool');
  const find = ({ failing_targets: failing }: Overview, name: string) =>
    failing.data.find((each) => (each['target'] as { target: string }).target === name);
  const dns = find(
    await overviewWith(gateway, (shown) => find(shown, 'none.invalid:80') !== undefined),
    'none.invalid:80',
  );
  assert.deepEqual([dns?.['state'], dns?.['address']], ['dns_error', null]);
  assert.match(String(dns?.['reason']), /dns/i);
  healthy = false;
  const failing = find(await overviewWith(gateway, (shown) => find(shown, target) !== undefined), target);
  const { data } = await rig.write('GET', '/upstreams/pool/targets');
  const row = (data as readonly Shown[]).find((each) => each['target'] === target);
  assert.deepEqual(failing?.['upstream'], { id: upstream, name: 'pool' });
  assert.deepEqual(failing?.['target'], { id: row?.['id'], target });
  assert.deepEqual([failing?.['address'], failing?.['state']], [target, 'unhealthy']);
  assert.match(String(failing?.['reason']), /500/);
  assert.ok(Math.abs(Number(failing?.['since']) - Date.now() / 1000) < 60);
  healthy = true;
  await overviewWith(gateway, (shown) => find(shown, target) === undefined);
});

test('open circuits are shown with the instance, and the target or service that they protect', async () => {
  await using backend = await startBackend({
    handler: (_request, response) => {
      response.statusCode = 503;
      response.end();
    },
  });
  await using rig = await startRig();
  const { gateway } = rig;
  const target = `127.0.0.1:${backend.port}`;
  const upstream = await rig.write('PUT', '/upstreams/pool', {});
  const { id: targetId } = await rig.write('POST', '/upstreams/pool/targets', { target });
  const failures = { consecutive_failures: 2, failure_statuses: [503], pause: 60 };
  const instances: Record<string, unknown> = {};
  for (const per of ['target', 'service']) {
    await rig.write('PUT', `/services/${per}`, { host: 'pool', retries: 0 });
    await rig.write('PUT', `/services/${per}/routes/${per}`, { paths: [`/${per}`] });
    const config = { per: [per], ...failures };
    const { id } = await rig.write('POST', `/services/${per}/plugins`, { name: 'circuit-breaker', config });
    instances[per] = id;
    for (let at = 0; at < 4; at++) await ask(gateway, `/${per}`);
  }
  const { id: service } = await rig.write('GET', '/services/service');
  const shown = await overviewWith(gateway, ({ circuits }) => circuits.total === 2);
  const of = (per: string) =>
    shown.circuits.data.find((each) => (each['plugin'] as { id: string }).id === instances[per]);
  assert.deepEqual(
    [of('target')?.['state'], of('target')?.['target'], of('target')?.['upstream'], of('target')?.['service']],
    ['open', { id: targetId, target }, { id: upstream['id'], name: 'pool' }, null],
  );
  assert.deepEqual(
    [of('service')?.['state'], of('service')?.['name'], of('service')?.['service'], of('service')?.['target']],
    ['open', 'service', { id: service }, null],
  );
});

test('certificates are shown from thirty days before they expire, with where they are from', async () => {
  using authority = new CertificateAuthority();
  await using rig = await startRig();
  const { gateway } = rig;
  const soon = authority.issue('soon.test', { days: 20 });
  const later = authority.issue('later.test', { days: 100 });
  const managed = authority.issue('managed.test', { days: 5 });
  await rig.write('POST', '/certificates', { ...later, snis: ['later.test'] });
  const { id } = await rig.write('POST', '/certificates', { ...soon, snis: ['soon.test', 'www.soon.test'] });
  // As the plugin acme does.
  const acme = await rig.write('POST', '/certificates', { ...managed, tags: ['managed-by-acme'] });
  const ca = await rig.write('POST', '/ca_certificates', { cert: authority.cert });
  const shown = await overviewWith(gateway, ({ certificates }) => certificates.total === 3);
  const ofAcme = shown.certificates.data[0];
  assert.deepEqual([ofAcme?.['certificate'], ofAcme?.['managed_by']], [{ id: acme['id'] }, 'acme']);
  const ofConfig = shown.certificates.data.find(({ names }) => (names as string[]).includes('soon.test'));
  assert.deepEqual([ofConfig?.['certificate'], ofConfig?.['names']], [{ id }, ['soon.test', 'www.soon.test']]);
  assert.equal(ofConfig?.['expired'], false);
  const days = (Number(ofConfig?.['expires_at']) - Date.now() / 1000) / 86_400;
  assert.ok(days > 19 && days < 20.1, `${days}`);
  assert.ok(shown.certificates.data.some(({ ca_certificate: found }) => (found as Shown | null)?.['id'] === ca['id']));
  await rig.write('DELETE', `/certificates/${String(id)}`);
  await overviewWith(gateway, ({ certificates }) => certificates.total === 2);
});

test('the certificate of a listener is shown by the name of its setting', async () => {
  using authority = new CertificateAuthority();
  const { cert, key } = authority.issue('localhost', { days: 3 });
  await using gateway = await startTestGateway({
    env: { KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl', KONG_SSL_CERT: cert, KONG_SSL_CERT_KEY: key },
  });
  const { certificates } = await overviewWith(gateway, (shown) => shown.certificates.total === 1);
  assert.equal(certificates.data[0]?.['setting'], 'ssl_cert');
});

test('entities that cannot be used and the lines of the error log are shown with what they are about', async () => {
  await using rig = await startRig();
  const { gateway } = rig;
  await rig.write('PUT', '/services/backend/routes/other', { paths: ['/other'] });
  const { id } = await rig.write('POST', '/routes/other/plugins', {
    name: 'http-log',
    config: { http_endpoint: '{vault://env/endpoint}' },
  });
  // Nothing listens there.
  await rig.write('PUT', '/services/backend', { url: 'http://127.0.0.1:1', retries: 0 });
  assert.equal(await ask(gateway, '/'), 502);
  const message = 'an attempt at a backend failed';
  const shown = await overviewWith(gateway, ({ config, log }) => {
    return config.failures.total === 1 && log.data.some((line) => line['message'] === message);
  });
  const [failure] = shown.config.failures.data;
  assert.deepEqual([failure?.['entity'], failure?.['id']], ['plugins', id]);
  assert.match(String(failure?.['reason']), /vault/);
  const problem = shown.log.data.find((line) => line['message'] === message);
  assert.deepEqual([problem?.['level'], problem?.['count']], ['error', 1]);
  const fields = problem?.['fields'] as Shown;
  assert.equal(fields['service'], 'backend');
  assert.match(String(fields['reason']), /ECONNREFUSED/);
  assert.equal(fields['request_id'], undefined);
  const lines = Object.values(shown.log.since_start).reduce((sum, count) => sum + count, 0);
  const counted = shown.log.data.reduce((sum, { count }) => sum + Number(count), 0);
  assert.equal(counted, lines);
});

test('without analytics the traffic is counted all the same', async () => {
  await using rig = await startRig({ env: { SLUICEGATE_ANALYTICS: 'off' } });
  const { gateway } = rig;
  for (let at = 0; at < 7; at++) await ask(gateway, '/');
  const shown = await overviewWith(gateway, ({ traffic }) => traffic.last_minute['requests'] === 7);
  assert.equal(shown.usage, null);
});

test('however many ask, the document is made once a second', async () => {
  await using rig = await startRig();
  const { gateway } = rig;
  const times = async (): Promise<ReadonlySet<unknown>> => {
    const all = await Promise.all(Array.from({ length: 50 }, () => gateway.admin('GET', '/overview')));
    return new Set(all.map(({ body }) => body['time']));
  };
  assert.ok((await times()).size <= 2);
  const [first] = await times();
  await until(async () => !(await times()).has(first));
});
