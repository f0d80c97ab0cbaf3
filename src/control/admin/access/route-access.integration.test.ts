import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { call } from '../admin.fixture.ts';
import { type GuardedGateway, startGuardedGateway } from './users.fixture.ts';

type Access = 'read' | 'edit' | 'admin';

/** Entities: every caller may read them, and `edit` may write those that it owns. */
const entityPaths: ReadonlySet<string> = new Set([
  'acls',
  'apis',
  'basic-auths',
  'ca_certificates',
  'certificates',
  'consumers',
  'hmac-auths',
  'jwts',
  'key-auths',
  'mtls-auths',
  'oauth2',
  'oauth2_tokens',
  'plugins',
  'routes',
  'services',
  'sessions',
  'snis',
  'upstreams',
]);

/** Every other operation. One that is missing here fails the test: decide who may use it. */
const decisions: Readonly<Record<string, Access>> = {
  'GET /': 'read',
  'GET /status': 'read',
  'GET /status/dns': 'read',
  'GET /nodes': 'read',
  'GET /nodes/{nodes}': 'read',
  'GET /metrics': 'read',
  'GET /endpoints': 'read',
  'GET /openapi.json': 'read',
  'GET /robots.txt': 'read',
  'GET /schemas': 'read',
  'GET /schemas/{name}': 'read',
  'GET /schemas/plugins/{name}': 'read',
  'GET /schemas/plugins/{name}/docs': 'read',
  'GET /schemas/vaults/{name}': 'read',
  'GET /schemas/filters/{name}': 'read',
  'POST /schemas/{name}/validate': 'edit',
  'POST /schemas/plugins/validate': 'edit',
  'POST /schemas/vaults/validate': 'edit',
  'GET /plugins/enabled': 'read',
  'GET /plugins/reload': 'read',
  'POST /plugins/reload': 'admin',
  'GET /plugins/schema/{name}': 'read',
  'GET /search': 'read',
  'GET /tags': 'read',
  'POST /tags': 'edit',
  'GET /tags/{tags}': 'read',
  'GET /audit': 'read',
  'GET /audit/{audit_records}': 'read',
  'POST /apis/import': 'edit',
  'GET /apis/{apis}/reference': 'read',
  'GET /analytics/usage': 'read',
  'GET /analytics/summary': 'read',
  'GET /overview': 'read',
  'GET /overview/live': 'read',
  'GET /traffic': 'read',
  'DELETE /traffic': 'admin',
  'GET /traffic/live': 'read',
  'GET /traffic/plugins': 'read',
  'GET /traffic/{traffic_records}': 'read',
  // Sends a request to a backend, from the caller's own address.
  'POST /explain': 'edit',
  'POST /what-if': 'edit',
  'GET /debug/node/log-level': 'read',
  'PUT /debug/node/log-level/{log_level}': 'admin',
  'PUT /debug/cluster/log-level/{log_level}': 'admin',
  'GET /admin-users': 'admin',
  'POST /admin-users': 'admin',
  'GET /admin-users/me': 'read',
  'GET /admin-users/{admin_users}': 'admin',
  'PATCH /admin-users/{admin_users}': 'admin',
  'DELETE /admin-users/{admin_users}': 'admin',
  'GET /admin-users/{admin_users}/tokens': 'admin',
  'POST /admin-users/{admin_users}/tokens': 'admin',
  'GET /admin-users/{admin_users}/tokens/{admin_tokens}': 'admin',
  'DELETE /admin-users/{admin_users}/tokens/{admin_tokens}': 'admin',
  // The whole config, with its secrets.
  'GET /config': 'admin',
  'POST /config': 'admin',
  'POST /config/apply': 'admin',
  'POST /config/diff': 'admin',
  'GET /config/export': 'admin',
  'GET /config/versions': 'read',
  'GET /config/versions/{config_versions}': 'read',
  'GET /config/versions/{config_versions}/diff': 'read',
  'POST /config/versions/{config_versions}/rollback': 'admin',
  // What it changes is checked as any write of the caller.
  'POST /config/versions/{config_versions}/undo': 'edit',
  'GET /clustering/data-planes': 'read',
  'GET /clustering/status': 'read',
  ...ofAll('/filter-chains', '/filter-chains/{filter_chains}'),
  'POST /data-masking/preview': 'admin',
  'GET /api-versions': 'read',
  'POST /acme': 'admin',
  'PATCH /acme': 'admin',
  'GET /acme/certificates': 'read',
  'GET /acme/certificates/{host}': 'read',
  'GET /circuit-breakers': 'read',
  // Cached responses are data of clients.
  'GET /proxy-cache/{cache_key}': 'admin',
  'DELETE /proxy-cache': 'admin',
  'DELETE /proxy-cache/{cache_key}': 'admin',
  'GET /proxy-cache/{plugin_id}/caches/{cache_key}': 'admin',
  'DELETE /proxy-cache/{plugin_id}/caches/{cache_key}': 'admin',
  'GET /consumers/{consumers}/quotas': 'read',
  'DELETE /consumers/{consumers}/quotas': 'admin',
};

function ofAll(...paths: readonly string[]): Record<string, Access> {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  return Object.fromEntries(
    paths.flatMap((path) => methods.map((method) => [`${method} ${path}`, method === 'GET' ? 'read' : 'admin'])),
  );
}

function decisionFor(method: string, path: string): Access | undefined {
  const own = decisions[`${method} ${path}`];
  if (own !== undefined) return own;
  const [, first = '', , third = ''] = path.split('/');
  const isEntity = entityPaths.has(first) && !['enabled', 'schema', 'quotas'].includes(third);
  return isEntity ? (method === 'GET' ? 'read' : 'edit') : undefined;
}

let users: GuardedGateway;
before(async () => {
  users = await startGuardedGateway();
});
after(async () => users[Symbol.asyncDispose]());

/** Every operation of the route table, as the Admin API itself lists it. */
async function operations(): Promise<readonly (readonly [method: string, path: string])[]> {
  const paths = (await users.admin('GET', '/endpoints')).json['data'] as readonly string[];
  const found: (readonly [string, string])[] = [];
  for (const path of paths) {
    const { headers } = await users.nobody('OPTIONS', concrete(path));
    const methods = String(headers.allow).split(', ');
    for (const method of methods) if (method !== 'OPTIONS' && method !== 'HEAD') found.push([method, path]);
  }
  return found;
}

/** A path that names nothing. Streams of events have an end. */
function concrete(path: string): string {
  if (path.endsWith('/live')) return `${path}?duration=1`;
  return path.replace('{log_level}', 'nonsense').replace(/\{[^}]+\}/g, 'x');
}

test('every operation has a decision, and every role gets what it says', async () => {
  const table = await operations();
  assert.ok(table.length > 150, `${table.length} operations`);
  const rank = { read: 0, edit: 1, admin: 2 };
  const roles = { reader: 'read', alice: 'edit', admin: 'admin' } as const;
  const undecided: string[] = [];
  for (const [method, pattern] of table) {
    const access = decisionFor(method, pattern);
    const name = `${method} ${pattern}`;
    if (access === undefined) {
      undecided.push(name);
      continue;
    }
    const path = concrete(pattern);
    const anonymous = await users.nobody(method, path, method === 'GET' ? undefined : {});
    assert.equal(anonymous.status, 401, name);
    assert.deepEqual(anonymous.json, { message: 'Unauthorized' }, name);
    for (const [user, role] of Object.entries(roles)) {
      const answer = await users[user as keyof typeof roles](method, path, method === 'GET' ? undefined : {});
      assert.notEqual(answer.status, 401, name);
      const refused = answer.status === 403 && / needs the role /.test(answer.text);
      assert.equal(refused, rank[role] < rank[access], `${name} as ${role}: ${answer.status} ${answer.text}`);
    }
  }
  assert.deepEqual(undecided, []);
  const known = new Set(table.map(([method, path]) => `${method} ${path}`));
  assert.deepEqual(
    Object.keys(decisions).filter((name) => !known.has(name)),
    [],
    'decisions about operations that do not exist',
  );
});

test('HEAD needs what GET needs, and other methods, unknown paths and encodings open nothing', async () => {
  for (const path of [
    '/services',
    '/admin-users',
    '/metrics',
    '/audit',
    '/nope',
    '//services',
    '/%73ervices',
    '/services/',
  ]) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND']) {
      assert.equal((await users.nobody(method, path)).status, 401, `${method} ${path}`);
    }
  }
  assert.equal((await users.reader('HEAD', '/admin-users')).status, 403);
  assert.equal((await users.alice('HEAD', '/admin-users/admin/tokens')).status, 403);
  assert.equal((await users.reader('HEAD', '/services')).status, 200);
  assert.equal((await users.reader('PUT', '/services')).status, 405);
  for (const path of [
    '/default/admin-users',
    '/admin-users/',
    '/%61dmin-users',
    '/admin-users?x',
    '/admin-users/admin',
  ]) {
    assert.equal((await users.alice('GET', path)).status, 403, path);
  }
  // A header by which some frameworks replace the method.
  const overridden = { 'x-http-method-override': 'GET', 'x-method-override': 'GET' };
  assert.equal((await users.reader('POST', '/services', { host: 'a.test' }, overridden)).status, 403);
});

test('a refused request leaves neither a change nor an audit record', async () => {
  const before = (await users.admin('GET', '/audit?size=1000')).json['data'] as readonly unknown[];
  assert.equal((await users.reader('POST', '/services', { name: 'refused', host: 'a.test' })).status, 403);
  assert.equal((await users.alice('POST', '/services', { name: 'refused', host: 'a.test' })).status, 403);
  assert.equal((await users.nobody('POST', '/services', { name: 'refused', host: 'a.test' })).status, 401);
  assert.equal((await users.admin('GET', '/services/refused')).status, 404);
  const after = (await users.admin('GET', '/audit?size=1000')).json['data'] as readonly unknown[];
  assert.equal(after.length, before.length);
});

test('OPTIONS needs no token, and tells nothing about rows', async () => {
  await users.admin('POST', '/services', { name: 'present', host: 'a.test' });
  const [present, absent] = [
    await users.nobody('OPTIONS', '/services/present'),
    await users.nobody('OPTIONS', '/services/absent'),
  ];
  assert.deepEqual([present.status, present.headers.allow], [absent.status, absent.headers.allow]);
  const origin = { origin: 'https://page.example', 'access-control-request-headers': 'authorization,kong-admin-token' };
  const preflight = await users.nobody('OPTIONS', '/services', undefined, origin);
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers['access-control-allow-origin'], 'https://page.example');
  assert.equal(preflight.headers['access-control-allow-headers'], 'authorization,kong-admin-token');
});

test('the metrics can be scraped with a token of the role read; the status listener stays open', async () => {
  assert.equal((await users.admin('POST', '/plugins', { name: 'prometheus' })).status, 201);
  assert.equal((await users.nobody('GET', '/metrics')).status, 401);
  const scraped = await users.reader('GET', '/metrics');
  assert.equal(scraped.status, 200);
  assert.match(scraped.text, /^# HELP /m);
  for (const path of ['/metrics', '/status', '/status/ready']) {
    assert.equal((await call(users.gateway.statusUrl, 'GET', path)).status, 200, path);
  }
});

test('both headers work; a proxy in front may need Authorization for itself', async () => {
  const { nobody, tokens } = users;
  const me = (headers: Readonly<Record<string, string>>) => nobody('GET', '/admin-users/me', undefined, headers);
  assert.equal((await me({ 'kong-admin-token': tokens.alice })).json['name'], 'alice');
  assert.equal((await me({ authorization: `bearer ${tokens.alice}` })).json['name'], 'alice');
  assert.equal((await me({ authorization: 'Basic eDp5', 'kong-admin-token': tokens.alice })).json['name'], 'alice');
  const both = { authorization: `Bearer ${tokens.reader}`, 'kong-admin-token': tokens.alice };
  assert.equal((await me(both)).json['name'], 'alice');
  for (const path of [`/services?token=${tokens.admin}`, `/services?kong-admin-token=${tokens.admin}`]) {
    assert.equal((await nobody('GET', path)).status, 401);
  }
  assert.equal(
    (await nobody('GET', '/services', undefined, { cookie: `kong-admin-token=${tokens.admin}` })).status,
    401,
  );
});

test('who am I', async () => {
  const alice = (await users.alice('GET', '/admin-users/me')).json;
  assert.deepEqual([alice['kind'], alice['name'], alice['role']], ['user', 'alice', 'edit']);
  assert.deepEqual(alice['tag_patterns'], ['team-a', 'team-a-*']);
  const token = alice['token'] as Readonly<Record<string, unknown>>;
  assert.equal(token['name'], 'test');
  assert.ok(users.tokens.alice.startsWith(String(token['token_prefix'])));
  assert.equal(JSON.stringify(alice).includes('token_hash'), false);
  assert.equal(JSON.stringify(alice).includes(users.tokens.alice), false);
});
