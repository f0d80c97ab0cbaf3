import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { call, startTestAdmin, type TestAdmin } from './admin.fixture.ts';

let admin: TestAdmin;
before(async () => {
  admin = await startTestAdmin({
    settings: { public: { database: 'postgres', router_flavor: 'traditional_compatible' } },
  });
});
after(() => admin[Symbol.asyncDispose]());

test('the root has the fields that clients read', async () => {
  const { json } = await admin.call('GET', '/');
  assert.equal(json['version'], '3.9.1');
  assert.equal(json['sluicegate_version'], '0.1.0');
  assert.equal(json['edition'], 'community');
  assert.equal(json['tagline'], 'Welcome to kong');
  assert.equal(json['hostname'], 'gw');
  assert.equal(json['node_id'], admin.deps.node.nodeId);
  assert.deepEqual(json['pids'], { master: process.pid, workers: [process.pid] });
  assert.deepEqual(json['timers'], { running: 0, pending: 0 });
  const configuration = json['configuration'] as Record<string, unknown>;
  for (const [name, value] of Object.entries({
    database: 'postgres',
    router_flavor: 'traditional_compatible',
    role: 'traditional',
    log_level: 'notice',
  })) {
    assert.equal(configuration[name], value, name);
  }
});

test('the root lists the loaded plugins and, at once, the ones in use', async () => {
  const plugins = async (): Promise<Record<string, unknown>> =>
    (await admin.call('GET', '/')).json['plugins'] as Record<string, unknown>;
  assert.deepEqual((await plugins())['available_on_server'], {
    'rate-limiting': { version: '0.1.0', priority: 900 },
    'key-auth': { version: '0.1.0', priority: 901 },
  });
  assert.deepEqual((await plugins())['enabled_in_cluster'], []);
  await admin.call('POST', '/plugins', { name: 'key-auth' });
  assert.deepEqual((await plugins())['enabled_in_cluster'], ['key-auth']);
  assert.deepEqual((await admin.call('GET', '/plugins/enabled')).json, {
    enabled_plugins: ['rate-limiting', 'key-auth'],
  });
});

test('the status is the same on both listeners', async () => {
  for (const url of [admin.url, admin.statusUrl]) {
    const { status, json } = await call(url, 'GET', '/status');
    assert.equal(status, 200);
    assert.deepEqual(json, {
      memory: { workers_lua_vms: [{ http_allocated_gc: '3.00 MiB', pid: process.pid }], lua_shared_dicts: {} },
      zones: [],
      plugins: {},
      server: {
        connections_accepted: 7,
        connections_active: 5,
        connections_handled: 6,
        connections_reading: 1,
        connections_writing: 2,
        connections_waiting: 3,
        total_requests: 9,
        shed_requests: 1,
      },
      load: { requests_in_flight: 2, event_loop_delay: 0.002, shed_requests: 1, config_age: 2.5 },
      database: { reachable: true },
    });
  }
});

test('name resolution reports its servers, its counts and the names in use, on both listeners', async () => {
  for (const url of [admin.url, admin.statusUrl]) {
    const { status, json } = await call(url, 'GET', '/status/dns');
    assert.equal(status, 200);
    assert.deepEqual(json, {
      servers: ['10.0.0.2:53'],
      stats: { queries: 4 },
      name_count: 2,
      names: {
        'a.test': {
          status: 'stale',
          error: 'dns server error: 2 server failure',
          next_query_in: 0,
          address_count: 1,
          addresses: [{ ip: '10.0.0.7', port: 8080, weight: 3, name: 'b.test' }],
        },
        'new.test': { status: 'asked', address_count: 0, addresses: [] },
      },
    });
  }
});

test('the status shows memory in the requested unit', async () => {
  const shown = async (query: string): Promise<unknown> => {
    const { json } = await admin.call('GET', `/status?${query}`);
    return (json['memory'] as { workers_lua_vms: { http_allocated_gc: unknown }[] }).workers_lua_vms[0]
      ?.http_allocated_gc;
  };
  assert.equal(await shown('unit=b'), 3 * 2 ** 20);
  assert.equal(await shown('unit=K'), '3072.00 KiB');
  assert.equal(await shown('unit=m&scale=0'), '3 MiB');
  assert.equal(await shown('unit=g&scale=4'), '0.0029 GiB');
  const bad = await admin.call('GET', '/status?unit=x');
  assert.equal(bad.status, 400);
  assert.deepEqual(bad.json, { message: "invalid unit 'x' (expected 'k/K', 'm/M', or 'g/G')" });
  for (const unit of ['__proto__', 'constructor']) {
    assert.equal((await admin.call('GET', `/status?unit=${unit}`)).status, 400);
  }
});

test('the status listener has no other paths', async () => {
  assert.deepEqual((await call(admin.statusUrl, 'GET', '/status/ready')).json, { message: 'ready' });
  for (const path of ['/', '/services', '/endpoints']) {
    assert.equal((await call(admin.statusUrl, 'GET', path)).status, 404);
  }
  assert.equal((await call(admin.statusUrl, 'POST', '/status')).status, 405);
});

test('the log level can be read and changed temporarily', async () => {
  const path = '/debug/node/log-level';
  assert.deepEqual((await admin.call('GET', path)).json, { message: 'log level: notice' });
  const changed = await admin.call('PUT', `${path}/debug`, 'timeout=1');
  assert.deepEqual(changed.json, { message: 'log level changed' });
  assert.deepEqual((await admin.call('PUT', `${path}/debug`)).json, { message: 'log level is already debug' });
  while (admin.options.logLevel.get() !== 'notice') await new Promise(setImmediate);
  await admin.call('PUT', `${path}/warn?timeout=0`);
  assert.deepEqual((await admin.call('GET', path)).json, { message: 'log level: warn' });
  const unknown = await admin.call('PUT', `${path}/loud`);
  assert.equal(unknown.status, 400);
  assert.deepEqual(unknown.json, { message: 'unknown log level: loud' });
  assert.equal((await admin.call('PUT', `${path}/debug`, 'timeout=x')).status, 400);
});

test('the log level of all nodes can be changed', async () => {
  const path = '/debug/cluster/log-level';
  assert.deepEqual((await admin.call('PUT', `${path}/error?timeout=0`)).json, { message: 'log level changed' });
  assert.equal(admin.options.logLevel.get(), 'error');
  assert.equal((await admin.call('PUT', `${path}/loud`)).status, 400);
});

test('endpoints that this node does not offer answer with the message of Kong', async () => {
  const answers: Readonly<Record<string, readonly [number, string]>> = {
    '/filter-chains': [400, 'this endpoint is only available when wasm is enabled'],
    '/config': [400, 'this endpoint is only available when Kong is configured to not use a database'],
    '/clustering/data-planes': [
      400,
      'this endpoint is only available when Kong is configured to run as Control Plane for the cluster',
    ],
  };
  for (const [path, [status, message]] of Object.entries(answers)) {
    const answer = await admin.call('GET', path);
    assert.equal(answer.status, status, path);
    assert.deepEqual(answer.json, { message });
  }
  const robots = await admin.call('GET', '/robots.txt');
  assert.equal(robots.text, 'User-agent: *\nDisallow: /');
  assert.match(String(robots.headers['content-type']), /^text\/plain/);
});

test('the endpoints are those of the route table, sorted by segments', async () => {
  const paths = (await admin.call('GET', '/endpoints')).json['data'] as string[];
  assert.equal(new Set(paths).size, paths.length);
  for (const path of [
    '/',
    '/services/{services}/routes/{routes}',
    '/plugins/{plugins}/consumer',
    '/upstreams/{upstreams}/targets/{targets}/healthy',
    '/certificates/{certificates}/snis/{snis}',
    '/openapi.json',
  ]) {
    assert.ok(paths.includes(path), path);
  }
  assert.ok(!paths.includes('/targets'));
  assert.ok(paths.indexOf('/services') < paths.indexOf('/services/{services}'));
});
