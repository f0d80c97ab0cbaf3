import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';
import { firstCertificate } from './certificate.fixture.ts';

type Entity = Readonly<Record<string, unknown>>;

let admin: TestAdmin;
before(async () => {
  admin = await startTestAdmin({
    settings: { public: { database: 'postgres', router_flavor: 'traditional_compatible' } },
  });
});
after(() => admin[Symbol.asyncDispose]());

const clientHeaders = { 'user-agent': 'decK/1.50', 'kong-admin-token': 'ignored', apikey: 'ignored' };

/** How go-kong reads a list: it continues while there is an `offset`, and reads nothing else. */
async function listAll(path: string, size = 1000, filter = ''): Promise<readonly Entity[]> {
  const items: Entity[] = [];
  let offset: unknown = null;
  do {
    const query = offset === null ? '' : `&offset=${String(offset)}`;
    const { status, json } = await admin.call('GET', `${path}?size=${size}${filter}${query}`, undefined, clientHeaders);
    assert.equal(status, 200, path);
    items.push(...(json['data'] as readonly Entity[]));
    offset = json['offset'] ?? null;
  } while (offset !== null);
  return items;
}

async function put(path: string, body: Entity): Promise<Entity> {
  const { status, json, text } = await admin.call('PUT', path, body, clientHeaders);
  assert.equal(status, 200, text);
  for (const [field, value] of Object.entries(body)) {
    if (!['key', 'cert', 'config', 'updated_at'].includes(field))
      assert.deepEqual(json[field], value, `${path} ${field}`);
  }
  return json;
}

test('decK reads an empty gateway', async () => {
  const root = await admin.call('GET', '/', undefined, clientHeaders);
  assert.match(String(root.json['version']), /^3\.\d+\.\d+$/);
  assert.match(String(root.headers.server), /^kong\/3\./);
  for (const path of [
    'services',
    'routes',
    'plugins',
    'certificates',
    'snis',
    'upstreams',
    'consumers',
    'ca_certificates',
  ]) {
    assert.deepEqual(await listAll(`/${path}`), [], path);
  }
  const tolerated = [
    'vaults',
    'keys',
    'key-sets',
    'partials',
    'filter-chains',
    'consumer_groups',
    'acls',
    'mtls-auths',
  ];
  for (const path of tolerated) {
    const { status, json } = await admin.call('GET', `/${path}?size=1000`);
    assert.ok(status === 404 || (status === 400 && path === 'filter-chains'), path);
    assert.equal(typeof json['message'], 'string');
  }
});

test('decK writes every entity by its id and finds it again unchanged', async () => {
  const ids = Object.fromEntries(
    ['certificate', 'sni', 'service', 'route', 'upstream', 'target', 'consumer', 'plugin'].map((name) => [
      name,
      randomUUID(),
    ]),
  );
  const tags = ['team-a', 'env:test'];
  const { certificate, service, route, upstream, target, consumer } = ids;
  assert.equal((await admin.call('GET', `/certificates/${certificate}`)).status, 404);
  await put(`/certificates/${certificate}`, { id: certificate, ...firstCertificate, tags });
  await put(`/consumers/${consumer}`, { id: consumer, username: 'bob', tags });
  await put(`/snis/${ids['sni']}`, { id: ids['sni'], name: 'a.test', certificate: { id: certificate } });
  await put(`/services/${service}`, { id: service, name: 'users', host: 'up.test', protocol: 'http', port: 80, tags });
  await put(`/upstreams/${upstream}`, { id: upstream, name: 'up.test', slots: 100, tags });
  await put(`/routes/${route}`, {
    id: route,
    name: 'users',
    service: { id: service },
    paths: ['/b', '/a'],
    methods: ['POST', 'GET'],
    headers: { 'x-b': ['2', '1'] },
    hosts: null,
    tags,
  });
  assert.equal(
    (await admin.call('PUT', `/upstreams/${upstream}/targets/${target}`, { target: '10.0.0.1:80' })).status,
    404,
  );
  const made = await admin.call('POST', `/upstreams/${upstream}/targets`, {
    id: target,
    target: '10.0.0.1:80',
    weight: 5,
  });
  assert.equal(made.status, 201);
  await put(`/plugins/${ids['plugin']}`, {
    id: ids['plugin'],
    name: 'rate-limiting',
    config: { minute: 5 },
    service: { id: service },
    route: { id: route },
    consumer: { id: consumer },
    enabled: true,
    tags,
  });
  for (const [path, id] of Object.entries({
    services: service,
    routes: route,
    plugins: ids['plugin'],
    consumers: consumer,
  })) {
    const found = await listAll(`/${path}`, 1000, `&tags=${encodeURIComponent(tags.join(','))}`);
    assert.deepEqual(
      found.map((item) => item['id']),
      [id],
      path,
    );
  }
  const [read] = await listAll('/routes');
  assert.deepEqual([read?.['paths'], read?.['methods'], read?.['hosts']], [['/b', '/a'], ['POST', 'GET'], null]);
  for (const [name, value] of Object.entries(read ?? {})) {
    if (name.endsWith('_at')) assert.ok(Number.isInteger(value), name);
  }
  const [listed] = await listAll(`/upstreams/${upstream}/targets`);
  assert.equal(listed?.['weight'], 5);
});

test('a second write of the same configuration causes no diff', async () => {
  const plain = ({ updated_at: _u, created_at: _c, ...rest }: Entity): Entity => rest;
  for (const path of ['services', 'routes', 'plugins', 'consumers', 'upstreams']) {
    for (const item of await listAll(`/${path}`)) {
      const again = await put(`/${path}/${String(item['id'])}`, item);
      assert.deepEqual(plain(again), plain(item), path);
    }
  }
});

test('the defaults of a schema are those of a new entity', async () => {
  const { json: schema } = await admin.call('GET', '/schemas/plugins/rate-limiting');
  const fields = new Map((schema['fields'] as Entity[]).flatMap((field) => Object.entries(field)));
  const config = fields.get('config') as { fields: readonly Readonly<Record<string, Entity>>[] };
  const [plugin] = await listAll('/plugins');
  const stored = plugin?.['config'] as Entity;
  assert.deepEqual(
    Object.keys(stored),
    config.fields.flatMap((field) => Object.keys(field)),
  );
  assert.deepEqual((fields.get('protocols') as Entity)['default'], plugin?.['protocols']);
});

test('decK reads long lists to the end', async () => {
  for (let index = 0; index < 25; index += 1) await put(`/consumers/${randomUUID()}`, { username: `many-${index}` });
  const all = await listAll('/consumers', 10);
  assert.equal(all.length, 26);
  assert.equal(new Set(all.map((item) => item['id'])).size, 26);
});

test('decK replaces an entity by another of the same name, and deletes everything', async () => {
  const [old] = await listAll('/upstreams');
  assert.equal((await admin.call('DELETE', `/upstreams/${String(old?.['id'])}`)).status, 204);
  await put(`/upstreams/${randomUUID()}`, { name: 'up.test' });
  for (const path of ['plugins', 'routes', 'upstreams', 'services', 'snis', 'consumers', 'certificates']) {
    for (const item of await listAll(`/${path}`)) {
      assert.equal((await admin.call('DELETE', `/${path}/${String(item['id'])}`)).status, 204);
    }
    assert.deepEqual(await listAll(`/${path}`), []);
  }
});

test('the Ingress Controller finds what it needs to start', async () => {
  assert.equal((await admin.call('GET', '/status')).status, 200);
  const configuration = (await admin.call('GET', '/')).json['configuration'] as Entity;
  assert.ok(['off', 'postgres'].includes(String(configuration['database'])));
  assert.equal(typeof configuration['router_flavor'], 'string');
});

test('a provider that puts the workspace before every path works with exact status codes', async () => {
  const created = await admin.call('POST', '/default/services', { name: 'ws', host: 'a.test' });
  assert.equal(created.status, 201);
  const path = `/default/services/${String(created.json['id'])}`;
  assert.equal((await admin.call('PUT', path, { name: 'ws', host: 'b.test' })).status, 200);
  assert.equal((await admin.call('GET', path)).json['host'], 'b.test');
  assert.equal((await admin.call('DELETE', path)).status, 204);
  assert.equal((await admin.call('GET', path)).status, 404);
});

test('the manager in a browser sends a preflight and then whole rows', async () => {
  const page = { origin: 'http://localhost:8002', 'sec-fetch-site': 'same-site' };
  await using managed = await startTestAdmin({ settings: { adminGuiUrl: [page.origin] } });
  const preflight = await managed.call('OPTIONS', '/services', undefined, {
    ...page,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers['access-control-allow-origin'], page.origin);
  assert.match(String(preflight.headers['access-control-allow-methods']), /POST/);
  const { json: row } = await managed.call('POST', '/services', { name: 'toggled', host: 'a.test' }, page);
  const toggled = await managed.call('PATCH', `/services/${String(row['id'])}`, { ...row, enabled: false }, page);
  assert.equal(toggled.status, 200, toggled.text);
  assert.equal(toggled.json['enabled'], false);
  const list = await managed.call('GET', '/services?size=30&sort_by=name&sort_desc=1', undefined, page);
  assert.equal((list.json['data'] as readonly Entity[]).length, 1);
});
