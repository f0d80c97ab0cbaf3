import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DbLessGateway, startDbLess } from '../support/db-less.ts';

let node: DbLessGateway;
const ids: Record<string, string> = {};

before(async () => {
  node = await startDbLess({
    document: {
      _format_version: '3.0',
      services: [{ name: 's', url: 'http://127.0.0.1:1', routes: [{ name: 'r', paths: ['/r'] }] }],
      consumers: [{ username: 'c', keyauth_credentials: [{ key: 'k' }] }],
      upstreams: [{ name: 'u', targets: [{ target: '127.0.0.1:1' }] }],
      plugins: [{ name: 'correlation-id' }],
    },
  });
  for (const path of ['services', 'routes', 'consumers', 'key-auths', 'upstreams', 'plugins']) {
    const { body } = await node.admin('GET', `/${path}`);
    ids[path] = (body['data'] as { id: string }[])[0]?.id ?? '';
  }
  const { body } = await node.admin('GET', '/upstreams/u/targets');
  ids['targets'] = (body['data'] as { id: string }[])[0]?.id ?? '';
});
after(() => node?.stop());

const service = { name: 'new', url: 'http://127.0.0.1:2' };
const missing = '0a000000-0000-4000-8000-000000000000';

/** Method, path, body, and what Kong says cannot be done. Ids are filled in for `{services}`. */
const refused: readonly (readonly [string, string, object | undefined, string])[] = [
  ['POST', '/services', service, "create 'services' entities"],
  ['PUT', `/services/${missing}`, service, "create or update 'services' entities"],
  ['PUT', '/services/s', service, "create or update 'services' entities by 'name'"],
  ['PUT', '/services/another', service, "create or update 'services' entities by 'name'"],
  ['PATCH', '/services/{services}', { retries: 1 }, "update 'services' entities"],
  ['PATCH', '/services/s', { retries: 1 }, "update 'services' entities by 'name'"],
  ['DELETE', '/services/{services}', undefined, "remove 'services' entities"],
  ['DELETE', '/services/s', undefined, "remove 'services' entities by 'name'"],
  ['POST', '/services/s/routes', { paths: ['/x'] }, "create 'routes' entities"],
  ['PUT', '/services/s/routes/r', { paths: ['/x'] }, "create or update 'routes' entities by 'name'"],
  ['PATCH', '/services/s/routes/{routes}', { paths: ['/x'] }, "update 'routes' entities"],
  ['DELETE', '/services/s/routes/r', undefined, "remove 'routes' entities by 'name'"],
  ['PATCH', '/routes/r/service', { retries: 1 }, "update 'services' entities"],
  ['PUT', '/routes/r/service', service, "create or update 'services' entities"],
  ['POST', '/consumers', { username: 'x' }, "create 'consumers' entities"],
  ['PUT', '/consumers/x', {}, "create or update 'consumers' entities by 'username'"],
  ['DELETE', '/consumers/c', undefined, "remove 'consumers' entities by 'username'"],
  ['POST', '/consumers/c/key-auth', { key: 'y' }, "create 'keyauth_credentials' entities"],
  ['PUT', '/consumers/c/key-auth/{key-auths}', { key: 'y' }, "create or update 'keyauth_credentials' entities"],
  ['DELETE', '/consumers/c/key-auth/{key-auths}', undefined, "remove 'keyauth_credentials' entities"],
  ['POST', '/consumers/c/acls', { group: 'g' }, "create 'acls' entities"],
  ['POST', '/plugins', { name: 'key-auth' }, "create 'plugins' entities"],
  ['PATCH', '/plugins/{plugins}', { enabled: false }, "update 'plugins' entities"],
  ['DELETE', '/plugins/{plugins}', undefined, "remove 'plugins' entities"],
  ['POST', '/upstreams', { name: 'v' }, "create 'upstreams' entities"],
  ['POST', '/upstreams/u/targets', { target: '127.0.0.1:2' }, "create 'targets' entities"],
  ['PATCH', '/upstreams/u/targets/127.0.0.1:1', { weight: 1 }, "update 'targets' entities"],
  [
    'PUT',
    '/upstreams/u/targets/{targets}',
    { target: '127.0.0.1:1', weight: 1 },
    "create or update 'targets' entities",
  ],
  ['DELETE', '/upstreams/u/targets/{targets}', undefined, "remove 'targets' entities"],
];

for (const [method, path, body, what] of refused) {
  test(`refuses ${method} ${path}`, async () => {
    const answer = await node.admin(
      method,
      path.replace(/\{([^}]+)\}/g, (_, name: string) => ids[name] ?? ''),
      body,
    );
    assert.equal(answer.status, 405);
    assert.deepEqual(answer.body, {
      code: 12,
      name: 'operation unsupported',
      message: `cannot ${what} when not using a database`,
    });
  });
}

test('a whole config is read and compared, and changed only by POST /config', async () => {
  const document = { _format_version: '3.0', services: [] };
  for (const path of ['/config/apply', '/config/versions/1/rollback']) {
    const { status, body } = await node.admin('POST', path, document);
    const message = 'this endpoint needs a database; without one, load a document by POST /config';
    assert.deepEqual([status, body], [400, { message }], path);
  }
  assert.equal((await node.admin('POST', '/config/diff', document)).status, 200);
  const { body: versions } = await node.admin('GET', '/config/versions');
  const [version] = versions['data'] as readonly Record<string, unknown>[];
  assert.deepEqual([version?.['action'], version?.['note']], ['apply', 'POST /config']);
});

test('checks a write before it is refused, as with a database', async () => {
  const invalid = await node.admin('POST', '/services', { name: 'x' });
  assert.equal(invalid.status, 400);
  assert.equal(invalid.body['message'], 'schema violation (host: required field missing)');
  assert.equal((await node.admin('PATCH', `/services/${missing}`, { retries: 1 })).status, 404);
  assert.equal((await node.admin('DELETE', '/services/missing')).status, 204);
  assert.equal((await node.admin('DELETE', `/consumers/c/key-auth/${missing}`)).status, 404);
  assert.equal((await node.admin('POST', '/services/missing/routes', { paths: ['/x'] })).status, 404);
});

test('nothing was changed', async () => {
  for (const path of ['services', 'routes', 'consumers', 'key-auths', 'upstreams', 'plugins']) {
    const { body } = await node.admin('GET', `/${path}`);
    assert.deepEqual(
      (body['data'] as { id: string }[]).map(({ id }) => id),
      [ids[path]],
    );
  }
});

test('the methods of a path stay as they are', async () => {
  const { headers } = await node.admin('OPTIONS', '/services/s');
  assert.equal(headers.get('allow'), 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT');
});

test('the OpenAPI description has /config, and every reference in it leads somewhere', async () => {
  const { body } = await node.admin('GET', '/openapi.json');
  const text = JSON.stringify(body);
  const { responses, schemas, parameters } = body['components'] as Record<string, Record<string, unknown>>;
  const known: Record<string, Record<string, unknown> | undefined> = { responses, schemas, parameters };
  for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
    assert.ok(known[kind]?.[name] !== undefined, `${kind} ${name}`);
  }
  assert.ok('/config' in (body['paths'] as object));
});

test('schemas check a body without a database', async () => {
  const valid = await node.admin('POST', '/schemas/services/validate', service);
  assert.deepEqual([valid.status, valid.body['message']], [200, 'schema validation successful']);
  assert.equal((await node.admin('POST', '/schemas/plugins/validate', { name: 'key-auth' })).status, 200);
});

test('a limit that counts in a shared database is refused', async () => {
  const body = { name: 'rate-limiting', config: { minute: 5, policy: 'cluster' } };
  const { status, body: answer } = await node.admin('POST', '/schemas/plugins/validate', body);
  assert.equal(status, 400);
  assert.deepEqual(answer['fields'], { config: { policy: 'expected one of: local, redis' } });
  const { body: schema } = await node.admin('GET', '/schemas/plugins/rate-limiting');
  assert.ok(JSON.stringify(schema).includes('"one_of":["local","redis"]'));
});

test('the log level is read, and changed only with a database', async () => {
  assert.deepEqual((await node.admin('GET', '/debug/node/log-level')).body, { message: 'log level: notice' });
  const { status, body } = await node.admin('PUT', '/debug/node/log-level/debug');
  assert.deepEqual([status, body], [405, { message: 'cannot change log level when not using a database' }]);
});

test('the health of a target can be set by hand', async () => {
  const loaded = await node.load({
    _format_version: '3.0',
    upstreams: [
      {
        name: 'checked',
        healthchecks: { passive: { unhealthy: { tcp_failures: 3 } } },
        targets: [{ target: '127.0.0.1:9' }],
      },
    ],
  });
  assert.equal(loaded.status, 201);
  const path = '/upstreams/checked/targets/127.0.0.1:9';
  assert.equal((await node.admin('PUT', `${path}/unhealthy`)).status, 204);
  const { body } = await node.admin('GET', '/upstreams/checked/health');
  assert.equal((body['data'] as { health: string }[])[0]?.health, 'UNHEALTHY');
  assert.equal((await node.admin('PUT', `${path}/healthy`)).status, 204);
});
