import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { authority, firstCertificate } from '../../src/control/admin/certificate.fixture.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type DbLessGateway, startDbLess } from '../support/db-less.ts';

/*
 * The calls of the Kong Ingress Controller (version 3) in its mode without a database: at its start, and in a sync. The tests run in
 * this order and build on each other.
 */
let backend: TestBackend;
let node: DbLessGateway;

before(async () => {
  backend = await startBackend();
  const env = { KONG_DATABASE: 'off' };
  node = await startDbLess({ env });
});
after(async () => {
  await node?.stop();
  await backend?.close();
});

type Fields = Readonly<Record<string, unknown>>;

const lostHash = '0'.repeat(32);
const userAgent = { 'User-Agent': 'kong-ingress-controller/3.5' };

interface Got {
  readonly status: number;
  readonly json: Fields;
}

async function get(path: string): Promise<Got> {
  const response = await fetch(node.adminUrl + path, { headers: userAgent });
  return { status: response.status, json: (await response.json()) as Fields };
}

/** As `POST /config` of the controller. */
function push(document: Fields) {
  return node.load(document, { query: '?check_hash=1&flatten_errors=1' });
}

/** Every page of a collection; null when the collection does not exist. */
async function readAll(path: string): Promise<readonly Fields[] | null> {
  const items: Fields[] = [];
  for (let offset: unknown = ''; offset !== undefined; ) {
    const { status, json } = await get(`${path}?size=1000${offset === '' ? '' : `&offset=${String(offset)}`}`);
    if (status === 404 || status === 400) {
      assert.equal(typeof json['message'], 'string', path);
      return null;
    }
    assert.equal(status, 200, path);
    items.push(...(json['data'] as readonly Fields[]));
    offset = json['offset'];
  }
  return items;
}

/** The full read by which the controller recovers the last valid config. */
async function readEverything(): Promise<Readonly<Record<string, readonly Fields[]>>> {
  const required = [
    'services',
    'routes',
    'plugins',
    'certificates',
    'snis',
    'upstreams',
    'consumers',
    'ca_certificates',
  ];
  const credentials = ['key-auths', 'hmac-auths', 'jwts', 'basic-auths', 'oauth2', 'acls', 'mtls-auths'];
  const optional = ['vaults', 'keys', 'key-sets', 'partials', 'filter-chains', 'consumer_groups', 'licenses'];
  const found: Record<string, readonly Fields[]> = {};
  await Promise.all(
    [...required, ...credentials, ...optional].map(async (name) => {
      const items = await readAll(`/${name}`);
      assert.ok(items !== null || optional.includes(name), `/${name} must exist`);
      if (items !== null) found[name] = items;
    }),
  );
  const targets = await Promise.all(
    (found['upstreams'] ?? []).map(({ id }) => readAll(`/upstreams/${String(id)}/targets`)),
  );
  found['targets'] = targets.flatMap((page) => page ?? []);
  return found;
}

const tagsOf = (kind: string, name: string): readonly string[] => [
  `k8s-name:${name}`,
  'k8s-namespace:default',
  `k8s-kind:${kind}`,
  'k8s-uid:5c1a8b2e-7f0d-4a55-9d0e-0d8f6f3f9a10',
  'k8s-group:networking.k8s.io',
  'k8s-version:v1',
];

const ids = {
  service: '8f3b6a52-5c6c-5d5c-9d8a-3f2f8f9e0a01',
  route: '8f3b6a52-5c6c-5d5c-9d8a-3f2f8f9e0a02',
  consumer: '8f3b6a52-5c6c-5d5c-9d8a-3f2f8f9e0a03',
  certificate: '8f3b6a52-5c6c-5d5c-9d8a-3f2f8f9e0a04',
  authority: '8f3b6a52-5c6c-5d5c-9d8a-3f2f8f9e0a05',
  plugin: '8f3b6a52-5c6c-5d5c-9d8a-3f2f8f9e0a06',
  broken: '8f3b6a52-5c6c-5d5c-9d8a-3f2f8f9e0a07',
};

/** A cluster with an Ingress, two KongPlugins, a KongConsumer with credentials, and secrets. `more` are further services. */
function clusterConfig(more: readonly Fields[] = [], morePlugins: readonly Fields[] = []): Fields {
  return {
    _format_version: '3.0',
    services: [
      {
        id: ids.service,
        name: 'default.echo.80',
        host: 'echo.default.80.svc',
        port: 80,
        protocol: 'http',
        path: '/',
        retries: 5,
        connect_timeout: 60_000,
        read_timeout: 60_000,
        write_timeout: 60_000,
        tags: tagsOf('Service', 'echo'),
        routes: [
          {
            id: ids.route,
            name: 'default.echo.echo..80',
            paths: ['/echo/', '~/echo$'],
            path_handling: 'v0',
            preserve_host: true,
            protocols: ['http', 'https'],
            regex_priority: 0,
            request_buffering: true,
            response_buffering: true,
            https_redirect_status_code: 426,
            strip_path: true,
            tags: tagsOf('Ingress', 'echo'),
          },
        ],
        plugins: [
          {
            name: 'correlation-id',
            config: { header_name: 'X-Correlation' },
            tags: tagsOf('KongPlugin', 'correlation'),
          },
        ],
      },
      ...more,
    ],
    upstreams: [
      {
        name: 'echo.default.80.svc',
        algorithm: 'round-robin',
        tags: tagsOf('Service', 'echo'),
        targets: [{ target: `127.0.0.1:${backend.port}` }],
      },
    ],
    plugins: [
      {
        id: ids.plugin,
        name: 'key-auth',
        enabled: true,
        protocols: ['grpc', 'grpcs', 'http', 'https'],
        route: ids.route,
        config: {
          anonymous: null,
          hide_credentials: false,
          key_in_body: false,
          key_in_header: true,
          key_in_query: true,
          key_names: ['apikey'],
          realm: null,
          run_on_preflight: true,
        },
        tags: tagsOf('KongPlugin', 'auth'),
      },
      ...morePlugins,
    ],
    consumers: [
      {
        id: ids.consumer,
        username: 'ann',
        custom_id: 'ann-1',
        tags: tagsOf('KongConsumer', 'ann'),
        keyauth_credentials: [{ key: 'key-of-ann', tags: tagsOf('Secret', 'ann-key') }],
        basicauth_credentials: [{ username: 'ann', password: 'pass', tags: tagsOf('Secret', 'ann-basic') }],
        hmacauth_credentials: [{ username: 'ann', secret: 'hmac', tags: tagsOf('Secret', 'ann-hmac') }],
        jwt_secrets: [{ key: 'ann', secret: 'jwt', algorithm: 'HS256', tags: tagsOf('Secret', 'ann-jwt') }],
        oauth2_credentials: [
          {
            name: 'ann',
            client_id: 'ann',
            client_secret: 'secret',
            redirect_uris: ['http://127.0.0.1/'],
            tags: tagsOf('Secret', 'ann-oauth2'),
          },
        ],
        acls: [{ group: 'staff', tags: tagsOf('Secret', 'ann-acl') }],
        plugins: [{ name: 'rate-limiting', config: { hour: 1000 }, tags: tagsOf('KongPlugin', 'limit') }],
      },
    ],
    certificates: [
      {
        id: ids.certificate,
        cert: firstCertificate.cert,
        key: firstCertificate.key,
        snis: [{ name: 'echo.example.com' }],
        tags: tagsOf('Secret', 'tls'),
      },
    ],
    ca_certificates: [{ id: ids.authority, cert: authority, tags: tagsOf('Secret', 'ca') }],
  };
}

const statusOf: DbLessGateway['statusOf'] = (path, headers) => node.statusOf(path, headers);

test('the gateway is reachable, and says what it is', async () => {
  const { status, json } = await get('/status');
  assert.equal(status, 200);
  assert.equal(json['configuration_hash'], lostHash);
  const { json: root } = await get('/');
  assert.match(String(root['version']), /^3\.\d+\.\d+$/);
  assert.match(String(root['node_id']), /^[0-9a-f-]{36}$/);
  const configuration = root['configuration'] as Fields;
  assert.deepEqual([configuration['database'], configuration['router_flavor']], ['off', 'traditional_compatible']);
  assert.ok(Array.isArray(configuration['proxy_listeners']));
  assert.ok('stream_listeners' in configuration);
});

test('at the first start there is no config to recover', async () => {
  const everything = await readEverything();
  assert.deepEqual(Object.values(everything).flat(), []);
  assert.equal((await get('/status')).json['configuration_hash'], lostHash);
});

test('an empty cluster makes the gateway ready by an upstream without targets', async () => {
  assert.match(await node.ready(), /^503 no configuration available/);
  const { status } = await push({
    _format_version: '3.0',
    upstreams: [{ name: 'kong', algorithm: 'round-robin' }],
  });
  assert.equal(status, 201);
  assert.equal(await node.ready(), '200 ready');
  assert.notEqual((await get('/status')).json['configuration_hash'], lostHash);
});

test('the schemas of plugins are read before their defaults are filled in', async () => {
  for (const name of ['key-auth', 'correlation-id', 'rate-limiting']) {
    const { status, json } = await get(`/schemas/plugins/${name}`);
    assert.equal(status, 200);
    assert.ok((json['fields'] as readonly Fields[]).some((field) => 'config' in field));
  }
  assert.equal((await get('/schemas/plugins/none')).status, 404);
});

test('the webhook checks bodies', async () => {
  const validate = (entity: string, body: Fields) => node.admin('POST', `/schemas/${entity}/validate`, body);
  assert.equal((await validate('plugins', { name: 'key-auth', config: {} })).status, 200);
  const { status, body } = await validate('plugins', { name: 'key-auth', config: { key_names: 7 } });
  assert.equal(status, 400);
  assert.equal(typeof body['message'], 'string');
  assert.equal((await validate('routes', { paths: ['~/a$'] })).status, 200);
  assert.equal((await get('/consumers/nobody')).status, 404);
});

test('the config of a cluster is pushed, and served', async () => {
  const { status, body } = await push(clusterConfig());
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(await statusOf('/echo/x'), 401);
  assert.equal(await statusOf('/echo/x', { apikey: 'key-of-ann' }), 200);
  assert.equal(await statusOf('/echo', { apikey: 'key-of-ann' }), 200);
});

test('an unchanged config is not pushed again, because the gateway has not lost it', async () => {
  assert.notEqual((await get('/status')).json['configuration_hash'], lostHash);
  const before = (await get('/status')).json['configuration_hash'];
  assert.equal((await push(clusterConfig())).status, 201);
  assert.equal((await get('/status')).json['configuration_hash'], before, 'the same config has the same hash');
});

const broken: Fields = {
  id: ids.broken,
  name: 'default.broken.80',
  host: 'broken.default.80.svc',
  port: 80,
  protocol: 'http',
  path: 'no-slash',
  tags: tagsOf('Service', 'broken'),
  routes: [
    {
      name: 'default.broken.broken.example.com.80',
      hosts: ['broken.example.com'],
      paths: ['no-slash'],
      tags: tagsOf('Ingress', 'broken'),
    },
  ],
};
const brokenPlugin: Fields = {
  name: 'rate-limiting',
  route: ids.route,
  config: { minute: 'five' },
  tags: tagsOf('KongPlugin', 'broken-limit'),
};
const good: Fields = {
  name: 'default.good.80',
  url: 'http://echo.default.80.svc',
  routes: [
    {
      name: 'default.good.good.example.com.80',
      hosts: ['good.example.com'],
      paths: ['/good'],
      tags: tagsOf('Ingress', 'good'),
    },
  ],
  tags: tagsOf('Service', 'good'),
};

interface Flattened {
  readonly entity_name?: string;
  readonly entity_id?: string;
  readonly entity_type: string;
  readonly entity_tags: readonly string[];
  readonly errors: readonly { readonly type: string; readonly field?: string; readonly message: string }[];
}

test('broken objects are reported by their tags, and the rest is served', async () => {
  const { status, body } = await push(clusterConfig([broken, good], [brokenPlugin]));
  assert.equal(status, 400);
  assert.deepEqual([body['code'], body['name'], body['fields']], [14, 'invalid declarative configuration', {}]);
  const flattened = body['flattened_errors'] as readonly Flattened[];
  const errorsOf = (name: string) =>
    flattened
      .filter(({ entity_tags: tags }) => tags.includes(`k8s-name:${name}`))
      .map(({ entity_type, errors }) => [
        entity_type,
        errors.map(({ type, field, message }) => [type, field, message]),
      ]);
  assert.deepEqual(errorsOf('broken'), [
    ['service', [['field', 'path', 'should start with: /']]],
    ['route', [['field', 'paths.1', 'should start with: / (fixed path) or ~/ (regex path)']]],
  ]);
  assert.deepEqual(errorsOf('broken-limit'), [['plugin', [['field', 'config.minute', 'expected a number']]]]);
  assert.equal(flattened.find(({ entity_type }) => entity_type === 'service')?.entity_id, ids.broken);
  assert.equal(await statusOf('/echo/x', { apikey: 'key-of-ann' }), 200);
  assert.equal(await statusOf('/good', { host: 'good.example.com' }), 200);
});

test('the fallback config without the broken objects is accepted', async () => {
  assert.equal((await push(clusterConfig([good]))).status, 201);
  assert.equal(await statusOf('/good', { host: 'good.example.com' }), 200);
});

test('a controller that starts again recovers the last valid config', async () => {
  const everything = await readEverything();
  const counts = Object.fromEntries(Object.entries(everything).map(([name, items]) => [name, items.length]));
  assert.deepEqual(
    { ...counts },
    {
      services: 2,
      routes: 2,
      plugins: 3,
      certificates: 1,
      snis: 1,
      upstreams: 1,
      targets: 1,
      consumers: 1,
      ca_certificates: 1,
      'key-auths': 1,
      'hmac-auths': 1,
      jwts: 1,
      'basic-auths': 1,
      oauth2: 1,
      acls: 1,
      'mtls-auths': 0,
    },
  );
  const route = everything['routes']?.find(({ id }) => id === ids.route);
  assert.deepEqual(route?.['service'], { id: ids.service });
  assert.deepEqual(route?.['tags'], tagsOf('Ingress', 'echo'));
  const plugin = everything['plugins']?.find(({ id }) => id === ids.plugin);
  assert.deepEqual(plugin?.['route'], { id: ids.route });
  assert.deepEqual(everything['snis']?.[0]?.['certificate'], { id: ids.certificate });
  assert.notEqual((await get('/status')).json['configuration_hash'], lostHash);
});

test('what the last Ingress leaves behind is the empty cluster again', async () => {
  const { status } = await push({ _format_version: '3.0', upstreams: [{ name: 'kong', algorithm: 'round-robin' }] });
  assert.equal(status, 201);
  assert.equal(await statusOf('/echo/x'), 404);
  assert.equal(await node.ready(), '200 ready');
});
