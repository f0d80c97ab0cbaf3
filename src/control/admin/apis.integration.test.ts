// Imports of OpenAPI documents, and the reference of an API.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';

type Json = Readonly<Record<string, unknown>>;

const shop = {
  openapi: '3.1.0',
  info: { title: 'Tea Shop', version: '2.1', description: '<script>alert(1)</script>' },
  servers: [{ url: 'http://shop.internal:9000/v1' }, { url: 'https://other.example' }],
  security: [{ key: [] }],
  'x-kong-plugin-rate-limiting': { config: { minute: 5 } },
  'x-kong-upstream-defaults': {},
  tags: [{ name: 'orders', description: 'All about orders' }],
  webhooks: {},
  paths: {
    '/orders': {
      get: {
        operationId: 'listOrders',
        tags: ['orders'],
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } }],
        responses: {
          '200': {
            description: 'Orders',
            content: {
              'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Order' } } },
            },
          },
        },
      },
      post: {
        operationId: 'makeOrder',
        'x-kong-plugin-key-auth': {},
        requestBody: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Order' }, example: { tea: 'green' } },
          },
        },
        responses: { '201': { description: 'Made' } },
      },
    },
    '/orders/{id}': {
      'x-kong-plugin-key-auth': {},
      get: {
        operationId: 'getOrder',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        responses: { '200': { description: 'One' } },
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' }, basic: { type: 'http', scheme: 'basic' } },
    schemas: {
      Order: {
        type: 'object',
        required: ['tea'],
        properties: {
          tea: { type: 'string', enum: ['green', 'black'] },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Order' } },
        },
      },
    },
  },
};

async function importing(admin: TestAdmin, document: unknown, more: Json = {}, query = '') {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const { status, json } = await admin.call('POST', `/apis/import${query}`, { document: text, ...more });
  return { status, json, changes: (json['changes'] ?? []) as readonly Json[] };
}

const count = async (admin: TestAdmin, path: string): Promise<number> =>
  ((await admin.call('GET', path)).json['data'] as readonly unknown[]).length;

test('a dry run shows what an import would write, and writes nothing', async () => {
  await using admin = await startTestAdmin();
  const { status, json, changes } = await importing(admin, shop, { tags: ['shop'] }, '?dry_run=1');
  assert.equal(status, 200, JSON.stringify(json));
  assert.deepEqual(
    changes.map(({ operation, entity, name, route }) => [operation, entity, name, route]),
    [
      ['create', 'services', 'tea-shop', null],
      ['create', 'plugins', 'rate-limiting', null],
      ['create', 'routes', 'listOrders', null],
      ['create', 'routes', 'makeOrder', null],
      ['create', 'plugins', 'key-auth', 'makeOrder'],
      ['create', 'routes', 'getOrder', null],
      ['create', 'apis', 'tea-shop', null],
    ],
  );
  assert.deepEqual(changes[1]?.['fields'], { tags: ['shop'], config: { minute: 5 }, name: 'rate-limiting' });
  assert.equal(changes[3]?.['place'], '/paths/~1orders/post');
  const warnings = json['warnings'] as readonly Json[];
  assert.deepEqual(
    warnings.map(({ place }) => place),
    ['/webhooks', '/servers', '/x-kong-upstream-defaults', '/paths/~1orders~1{id}/x-kong-plugin-key-auth'],
  );
  for (const path of ['/services', '/routes', '/plugins', '/apis', '/audit?size=10']) {
    assert.equal(await count(admin, path), 0, path);
  }
  assert.deepEqual(admin.published, []);
});

test('an import is one transaction, and a second one changes nothing', async () => {
  await using admin = await startTestAdmin();
  const first = await importing(admin, shop);
  assert.deepEqual([first.status, first.json['created']], [200, 7], JSON.stringify(first.json));
  assert.equal(admin.published.length, 1);
  const route = (await admin.call('GET', '/routes/getOrder')).json;
  assert.deepEqual(route['paths'], ['~/v1/orders/(?<id>[^/]+)$']);
  const service = (await admin.call('GET', '/services/tea-shop')).json;
  assert.deepEqual([service['host'], service['port']], ['shop.internal', 9000]);

  await admin.call('PATCH', '/services/tea-shop', { retries: 1 });
  const second = await importing(admin, shop);
  assert.deepEqual([second.json['created'], second.json['updated'], second.json['unchanged']], [0, 0, 7]);
  const { '/orders/{id}': _, ...paths } = shop.paths;
  const third = await importing(admin, { ...shop, info: { title: 'Tea Shop', version: '3' }, paths });
  assert.deepEqual(
    third.changes.filter(({ operation }) => operation === 'update').map(({ entity }) => entity),
    ['apis'],
  );
  assert.match(JSON.stringify(third.json['warnings']), /route getOrder is not in the document/);
  assert.equal((await admin.call('GET', '/services/tea-shop')).json['retries'], 1, 'kept');
  const { document, ...listed } = (await admin.call('GET', '/apis/tea-shop')).json;
  assert.match(String(document), /^\{"openapi"/);
  assert.deepEqual((await admin.call('GET', '/apis')).json['data'], [listed]);
});

test('what the gateway refuses is answered with its place in the document, and nothing is written', async () => {
  await using admin = await startTestAdmin();
  const wrong = structuredClone(shop) as unknown as { paths: Record<string, Record<string, Record<string, unknown>>> };
  wrong.paths['/orders']!['post']!['x-kong-plugin-key-auth'] = { config: { realms: 1 } };
  const { status, json } = await importing(admin, wrong);
  assert.deepEqual(
    [status, json['place'], json['entity'], json['entity_name']],
    [400, '/paths/~1orders/post/x-kong-plugin-key-auth', 'plugins', 'key-auth'],
  );
  assert.match(JSON.stringify(json['fields']), /realms/);
  assert.equal(await count(admin, '/services'), 0);

  assert.equal((await admin.call('POST', '/services', { name: 'other', host: 'a.test' })).status, 201);
  assert.equal((await admin.call('POST', '/services/other/routes', { name: 'makeOrder', paths: ['/x'] })).status, 201);
  const foreign = await importing(admin, shop);
  assert.deepEqual([foreign.status, foreign.json['place']], [409, '/paths/~1orders/post']);
  assert.equal(await count(admin, '/services'), 1);
  assert.equal((await importing(admin, shop, { route_prefix: 'tea-' })).status, 200);
});

test('a hostile document is refused within bounds', async () => {
  await using admin = await startTestAdmin();
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
  for (let at = 0; at < 9; at++) {
    const [from, to] = ['abcdefghij'[at], 'abcdefghij'[at + 1]];
    bomb.push(`${to}: &${to} [${Array(10).fill(`*${from}`).join(',')}]`);
  }
  const paths = (more: Json): Json => ({ ...shop, paths: { '/a': { get: { responses: {}, ...more } } } });
  const body = (ref: string): Json =>
    paths({ requestBody: { content: { 'application/json': { schema: { $ref: ref } } } } });
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ['a YAML bomb', bomb.join('\n'), /aliases|larger|values/],
    ['deep JSON', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, /deep|nested|level/i],
    ['deep YAML', `openapi: 3.1.0\na: ${'['.repeat(3000)}`, /YAML|deep|nested/i],
    ['a reference to a file', body('/etc/passwd'), /within the document/],
    ['a reference to a server', body('http://169.254.169.254/latest'), /within the document/],
    [
      'a circle',
      {
        ...shop,
        paths: { '/a': { get: { parameters: [{ $ref: '#/components/parameters/a' }] } } },
        components: { parameters: { a: { $ref: '#/components/parameters/a' } } },
      },
      /circle/,
    ],
    ['a prototype as a name', `{"openapi":"3.1.0","info":{},"paths":{"__proto__":{}}}`, /__proto__|slash|no operation/],
    ['an inherited name', body('#/components/schemas/constructor'), /leads to nothing/],
    [
      'too many paths',
      {
        ...shop,
        paths: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`/p${at}`, { get: { responses: {} } }])),
      },
      /more than 1000/,
    ],
    ['Swagger 2', { swagger: '2.0' }, /Swagger/],
    ['no document', 'nothing', /OpenAPI/],
  ];
  for (const [name, document, message] of cases) {
    const begin = performance.now();
    const { status, json } = await importing(admin, document);
    assert.equal(status, 400, `${name}: ${JSON.stringify(json).slice(0, 300)}`);
    assert.match(String(json['message']), message, name);
    assert.ok(performance.now() - begin < 15_000, name);
  }
  const large = await importing(admin, `openapi: 3.1.0\n#${'x'.repeat(1_048_576)}`);
  assert.deepEqual([large.status, (large.json['fields'] as Json)['document']], [400, 'length must be at most 1048576']);
  assert.deepEqual((await importing(admin, shop, { file: '/etc/passwd' })).json['fields'], { file: 'unknown field' });
  assert.equal(await count(admin, '/services'), 0);
  assert.deepEqual(admin.errors, []);
});

test('the reference has the operations, their schemas, and what the gateway demands', async () => {
  await using admin = await startTestAdmin();
  await importing(admin, shop);
  const { status, json } = await admin.call('GET', '/apis/tea-shop/reference');
  assert.equal(status, 200, JSON.stringify(json));
  const operations = json['operations'] as readonly Json[];
  const demands = json['demands'] as readonly Json[];
  assert.deepEqual(
    operations.map(({ method, path, route }) => [method, path, (route as Json)['name']]),
    [
      ['GET', '/v1/orders', 'listOrders'],
      ['POST', '/v1/orders', 'makeOrder'],
      ['GET', '/v1/orders/{id}', 'getOrder'],
    ],
  );
  const of = (at: number): Json => demands[Number(operations[at]?.['demands'])] as Json;
  assert.deepEqual(of(0)['auth'], []);
  assert.deepEqual((of(1)['auth'] as readonly Json[])[0]?.['plugin'], 'key-auth');
  assert.deepEqual(of(1)['limits'], [{ plugin: 'rate-limiting', limit: 5, unit: 'requests', per: 'minute' }]);
  assert.equal(json['description'], '<script>alert(1)</script>', 'a text, which the page shows as one');
  const [[ref, order]] = json['schemas'] as [[string, Json]];
  assert.equal(ref, '#/components/schemas/Order');
  assert.deepEqual(
    (order['properties'] as readonly Json[]).map(({ name, required }) => [name, required]),
    [
      ['tea', true],
      ['parts', false],
    ],
  );
  assert.doesNotMatch(JSON.stringify(json), /x-kong|shop\.internal/, 'nothing of the config');

  // A row that was written by hand.
  assert.equal((await admin.call('PATCH', '/apis/tea-shop', { document: 'nothing' })).status, 200);
  assert.equal((await admin.call('GET', '/apis/tea-shop/reference')).status, 422);
  assert.equal((await admin.call('GET', '/apis/none/reference')).status, 404);
  await admin.call('DELETE', '/services/tea-shop/routes/x');
  for (const name of ['listOrders', 'makeOrder', 'getOrder']) await admin.call('DELETE', `/routes/${name}`);
  assert.equal((await admin.call('DELETE', '/services/tea-shop')).status, 204);
  assert.equal(await count(admin, '/apis'), 0, 'the API ends with its service');
});

test('the tags of a caller bound what it may import', async () => {
  await using admin = await startTestAdmin();
  const first = await admin.call('POST', '/admin-users', { name: 'ada', role: 'admin' });
  const token = { authorization: `Bearer ${first.json['token']}` };
  await admin.call('POST', '/admin-users', { name: 'eve', role: 'edit', tag_patterns: ['team-a'] }, token);
  const issued = await admin.call('POST', '/admin-users/eve/tokens', { name: 't' }, token);
  const eve = { authorization: `Bearer ${issued.json['token']}` };
  const document = JSON.stringify(shop);
  for (const path of ['/apis/import?dry_run=1', '/apis/import']) {
    assert.equal((await admin.call('POST', path, { document }, eve)).status, 403, path);
  }
  const allowed = await admin.call('POST', '/apis/import?dry_run=1', { document, tags: ['team-a'] }, eve);
  assert.equal(allowed.status, 200, allowed.text);
  assert.equal((await admin.call('POST', '/apis/import', { document, tags: ['team-a'] }, eve)).status, 200);
});
