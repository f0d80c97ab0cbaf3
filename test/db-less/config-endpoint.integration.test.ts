import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type DbLessGateway, startDbLess } from '../support/db-less.ts';
import { startTestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const emptyHash = '0'.repeat(32);

interface Flattened {
  readonly entity_type: string;
  readonly entity_id?: string;
  readonly entity_name?: string;
  readonly entity_tags?: readonly string[];
  readonly errors: readonly { readonly type: string; readonly field?: string; readonly message: string }[];
}

interface Applied {
  readonly left_out: readonly { readonly entity: string; readonly id: string; readonly kept: boolean }[];
}

function yaml(backend: TestBackend, path = '/a'): string {
  return [
    '_format_version: "3.0"',
    'services:',
    '- name: s',
    `  url: ${backend.url}`,
    '  routes:',
    '  - name: r',
    `    paths: ["${path}"]`,
    '',
  ].join('\n');
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

const statusOf = (node: DbLessGateway, path: string): Promise<number> => node.statusOf(path);

test('a node without a database starts empty, is not ready, and has no database in /status', async () => {
  await using node = await startDbLess();
  const { body } = await node.admin('GET', '/status');
  assert.equal(body['configuration_hash'], emptyHash);
  assert.equal(body['database'], undefined);
  assert.equal(await node.ready(), '503 no configuration available (empty configuration present)');
  assert.equal(await statusOf(node, '/a'), 404);
});

test('a document is loaded in each form that Kong accepts, and is in use when it is answered', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  const form = new FormData();
  form.set('config', new Blob([yaml(backend, '/multipart')]), 'kong.yml');
  const document = (path: string): object => ({
    _format_version: '3.0',
    services: [{ name: 's', url: backend.url, routes: [{ name: 'r', paths: [path] }] }],
  });
  const forms: readonly (readonly [string, Parameters<DbLessGateway['load']>[0], string])[] = [
    ['/json', document('/json'), 'application/json'],
    ['/yaml', yaml(backend, '/yaml'), 'application/yaml'],
    ['/text-yaml', yaml(backend, '/text-yaml'), 'text/yaml; charset=utf-8'],
    ['/field', { config: yaml(backend, '/field') }, 'application/json'],
    ['/json-in-field', { config: JSON.stringify(document('/json-in-field')) }, 'application/json'],
    ['/form', new URLSearchParams({ config: yaml(backend, '/form') }).toString(), 'application/x-www-form-urlencoded'],
    ['/multipart', form, ''],
  ];
  let before = '/a';
  for (const [path, body, type] of forms) {
    const { status, body: answer } = await node.load(body, { type });
    assert.equal(status, 201, `${path}: ${JSON.stringify(answer)}`);
    assert.equal(await statusOf(node, path), 200, path);
    assert.equal(await statusOf(node, before), 404, `${before} is gone`);
    before = path;
  }
  assert.equal(await node.ready(), '200 ready');
});

test('the answer has the normalised entities by id', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  const { body, headers } = await node.load(yaml(backend), { type: 'application/yaml' });
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(Object.keys(body), ['services', 'routes']);
  // UUIDv5 of the name, as in Kong.
  const { body: service } = await node.admin('GET', '/services/s');
  assert.deepEqual(body['services'], { [String(service['id'])]: service });
  const { body: route } = await node.admin('GET', '/routes/r');
  assert.deepEqual(body['routes'], { [String(route['id'])]: route });
});

test('the hash is that of the text; with check_hash the same text is answered 304', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  const text = yaml(backend);
  const options = { type: 'application/yaml', query: '?check_hash=1' };
  assert.equal((await node.load(text, options)).status, 201);
  assert.equal(await node.hash(), md5(text));
  const same = await node.load(text, options);
  assert.deepEqual([same.status, same.body], [304, {}]);
  assert.equal((await node.load({ config: text }, { query: '?check_hash=1' })).status, 304);
  assert.equal((await node.load(text, { type: 'application/yaml', query: '?check_hash=true' })).status, 201);
  const changed = `${text}# a comment\n`;
  assert.equal((await node.load(changed, options)).status, 201);
  assert.equal(await node.hash(), md5(changed), 'the same entities, another document');
});

test('a JSON document is loaded every time', async () => {
  await using node = await startDbLess();
  const document = { _format_version: '3.0', upstreams: [{ name: 'kong', algorithm: 'round-robin' }] };
  assert.equal((await node.load(document, { query: '?check_hash=1' })).status, 201);
  const hash = await node.hash();
  assert.match(hash, /^[0-9a-f]{32}$/);
  assert.notEqual(hash, emptyHash);
  assert.equal((await node.load(document, { query: '?check_hash=1' })).status, 201);
  assert.equal(await node.hash(), hash);
});

test('a document without entities makes the node empty again', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  await node.load(yaml(backend), { type: 'text/yaml' });
  assert.equal(await node.ready(), '200 ready');
  assert.equal((await node.load({ _format_version: '3.0' })).status, 201);
  assert.equal(await node.hash(), emptyHash);
  assert.equal(await node.ready(), '503 no configuration available (empty configuration present)');
  assert.equal(await statusOf(node, '/a'), 404);
});

test('what is no document changes nothing', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  await node.load(yaml(backend), { type: 'text/yaml' });
  const hash = await node.hash();
  const expected = { message: 'expected a declarative configuration' };
  for (const [body, type] of [
    ['', 'application/json'],
    ['', 'text/yaml'],
    ['{"config":""}', 'application/json'],
    ['other=1', 'application/x-www-form-urlencoded'],
  ] as const) {
    const { status, body: answer } = await node.load(body, { type });
    assert.deepEqual([status, answer], [400, expected], `${type}: ${body}`);
  }
  const syntax = await node.load('services:\n- name: [\n', { type: 'text/yaml' });
  assert.deepEqual([syntax.status, syntax.body['code']], [400, 14]);
  assert.match(JSON.stringify(syntax.body['fields']), /line 3/);
  const notJson = await node.load('{"_format_version"', {});
  assert.deepEqual([notJson.status, notJson.body], [400, { message: 'Cannot parse JSON body' }]);
  const other = await node.load('<x/>', { type: 'application/xml' });
  assert.equal(other.status, 415);
  for (const [document, fields] of [
    [{ _format_version: '9.0' }, { _format_version: 'expected one of: 1.1, 2.1, 3.0' }],
    [{ services: [] }, { _format_version: 'required field missing' }],
    [{ _format_version: '3.0', foo: [] }, { foo: 'unknown field' }],
  ] as const) {
    const { status, body } = await node.load(document);
    assert.equal(status, 400);
    assert.deepEqual([body['code'], body['name']], [14, 'invalid declarative configuration']);
    assert.deepEqual(body['fields'], fields);
    assert.equal(body['applied'], undefined);
  }
  assert.equal(await node.hash(), hash);
  assert.equal(await statusOf(node, '/a'), 200);
});

test('an invalid entity does not block the rest, and is reported by itself', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  const tags = ['k8s-name:bad', 'k8s-kind:Ingress'];
  const document = {
    _format_version: '3.0',
    services: [
      { name: 'good', url: backend.url, routes: [{ name: 'good', paths: ['/good'] }] },
      { name: 'bad', host: '127.0.0.1', port: 99_999, tags, routes: [{ name: 'orphan', paths: ['/orphan'] }] },
    ],
  };
  const { status, body } = await node.load(document);
  assert.equal(status, 400);
  assert.deepEqual([body['code'], body['name'], body['fields']], [14, 'invalid declarative configuration', {}]);
  const flattened = body['flattened_errors'] as readonly Flattened[];
  const bad = flattened.find(({ entity_name }) => entity_name === 'bad');
  assert.deepEqual([bad?.entity_type, bad?.entity_tags], ['service', tags]);
  assert.deepEqual(bad?.errors, [{ type: 'field', field: 'port', message: 'value should be between 0 and 65535' }]);
  const { left_out: leftOut, ...counts } = body['applied'] as Applied;
  assert.deepEqual(counts, { created: 2, updated: 0, deleted: 0, unchanged: 0 });
  assert.deepEqual(
    leftOut.map(({ entity, kept }) => [entity, kept]),
    [
      ['services', false],
      ['routes', false],
    ],
  );
  assert.equal(await statusOf(node, '/good'), 200);
  assert.equal(await statusOf(node, '/orphan'), 404);
  assert.equal(await node.ready(), '200 ready');
});

test('without flatten_errors the errors are in the tree of fields', async () => {
  await using node = await startDbLess();
  const document = { _format_version: '3.0', services: [{ name: 'bad', host: 'a', port: 99_999 }] };
  const { status, body } = await node.load(document, { query: '' });
  assert.equal(status, 400);
  assert.deepEqual(body['fields'], { services: [{ port: 'value should be between 0 and 65535' }] });
  assert.equal(body['flattened_errors'], undefined);
  assert.equal(
    body['message'],
    'declarative config is invalid: {services={{port="value should be between 0 and 65535"}}}',
  );
});

test('the last good version of an invalid entity stays, and the hash is not that of the document', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  const document = (retries: number, paths: readonly string[]): string =>
    JSON.stringify({
      _format_version: '3.0',
      services: [
        { name: 'a', url: backend.url, retries, routes: [{ name: 'a', paths: ['/a'] }] },
        { name: 'b', url: backend.url, routes: [{ name: 'b', paths }] },
      ],
    });
  const options = { query: '?check_hash=1&flatten_errors=1' };
  const good = { config: document(1, ['/b']) };
  assert.equal((await node.load(good, options)).status, 201);
  const bad = { config: document(99_999, ['/c']) };
  const first = await node.load(bad, options);
  assert.equal(first.status, 400);
  const { id } = (await node.admin('GET', '/services/a')).body;
  const { left_out: leftOut, ...counts } = first.body['applied'] as Applied;
  assert.deepEqual(counts, { created: 0, updated: 1, deleted: 0, unchanged: 3 });
  assert.deepEqual(
    leftOut.map((each) => [each.entity, each.id, each.kept]),
    [['services', id, true]],
  );
  assert.equal(await statusOf(node, '/a'), 200);
  assert.equal(await statusOf(node, '/b'), 404);
  assert.equal(await statusOf(node, '/c'), 200);
  const hash = await node.hash();
  assert.ok(![md5(bad.config), md5(good.config), emptyHash].includes(hash));
  assert.equal((await node.load(bad, options)).status, 400, 'the same document is invalid again');
  assert.equal((await node.load(good, options)).status, 201, 'the document before is not what is in use');
  assert.equal(await statusOf(node, '/b'), 200);
});

test('a route does not lose its authentication when the plugin is invalid', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  const document = (config: object) => ({
    _format_version: '3.0',
    services: [
      {
        name: 's',
        url: backend.url,
        routes: [{ name: 'r', paths: ['/r'], plugins: [{ name: 'key-auth', config }] }],
      },
    ],
    consumers: [{ username: 'c', keyauth_credentials: [{ key: 'secret' }] }],
  });
  assert.equal((await node.load(document({}))).status, 201);
  assert.equal(await statusOf(node, '/r'), 401);
  assert.equal((await node.load(document({ key_names: 7 }))).status, 400);
  assert.equal(await statusOf(node, '/r'), 401, 'the last good version stays');
  assert.equal(await statusOf(node, '/r?apikey=secret'), 200);
  await using fresh = await startDbLess();
  assert.equal((await fresh.load(document({ key_names: 7 }))).status, 400);
  assert.notEqual(await statusOf(fresh, '/r'), 200, 'there is no earlier version');
});

test('GET /config returns a document that loads to the same config', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  await node.load(yaml(backend), { type: 'text/yaml' });
  const { body } = await node.admin('GET', '/config');
  const text = String(body['config']);
  assert.match(text, /^_format_version: ['"]3\.0['"]\n_transform: false\n/);
  const before = (await node.admin('GET', '/services')).body;
  assert.equal((await node.load({ _format_version: '3.0' })).status, 201);
  assert.equal((await node.load(text, { type: 'text/yaml' })).status, 201);
  const after = (await node.admin('GET', '/services')).body;
  assert.deepEqual(withoutTimes(after), withoutTimes(before));
});

function withoutTimes(list: Readonly<Record<string, unknown>>): unknown {
  return (list['data'] as Record<string, unknown>[]).map((row) => ({ ...row, created_at: 0, updated_at: 0 }));
}

test('the config and its hash survive a restart', async () => {
  await using backend = await startBackend();
  const first = await startDbLess();
  const { prefix } = first;
  try {
    await first.load(yaml(backend), { type: 'text/yaml' });
    const hash = await first.hash();
    await first.gateway.stop(false);
    const again = await startDbLess({ settings: { prefix } });
    try {
      assert.equal(await again.hash(), hash);
      assert.equal(await again.ready(), '200 ready');
      assert.equal(await statusOf(again, '/a'), 200);
    } finally {
      await again.stop();
    }
  } finally {
    await first.stop();
  }
});

test('a document that comes while another is loaded or received is refused with 429', async () => {
  await using node = await startDbLess();
  const socket = connect(Number(new URL(node.adminUrl).port), '127.0.0.1');
  try {
    await once(socket, 'connect');
    const head = [
      'POST /config HTTP/1.1',
      'Host: localhost',
      'Content-Type: text/yaml',
      `Content-Length: ${20 * 2 ** 20}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n_format_version`);
    const large = `_format_version: "3.0"\n# ${'x'.repeat(11 * 2 ** 20)}\n`;
    let answer = await node.load(large, { type: 'text/yaml' });
    // The first request may still be on its way.
    await until(async () => {
      if (answer.status === 429) return true;
      answer = await node.load(large, { type: 'text/yaml' });
      return answer.status === 429;
    });
    assert.deepEqual(answer.body, { message: 'Currently loading previous configuration' });
    assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
    const small = { _format_version: '3.0', upstreams: [{ name: 'kong' }] };
    assert.equal((await node.load(small)).status, 201, 'a small document is received meanwhile');
    socket.destroy();
    await until(async () => (await node.load(large, { type: 'text/yaml' })).status === 201);
  } finally {
    socket.destroy();
  }
});

test('many loads at once: each is answered 201 or 429, and the last config is one of them', async () => {
  await using backend = await startBackend();
  await using node = await startDbLess();
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => node.load(yaml(backend, `/p${at}`), { type: 'text/yaml' })),
  );
  const statuses = answers.map(({ status }) => status);
  assert.ok(
    statuses.every((status) => status === 201 || status === 429),
    statuses.join(),
  );
  assert.ok(statuses.includes(201));
  const { body } = await node.admin('GET', '/routes/r');
  const [path = ''] = body['paths'] as string[];
  assert.equal(statuses[Number(path.slice(2))], 201);
  assert.equal(await statusOf(node, path), 200);
});

test('a document beyond the maximum is refused with 413', async () => {
  await using node = await startDbLess();
  const socket = connect(Number(new URL(node.adminUrl).port), '127.0.0.1');
  try {
    socket.write(
      `POST /config HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/yaml\r\nContent-Length: ${2 ** 28 + 1}\r\n\r\n`,
    );
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    assert.match(bytes.toString(), /^HTTP\/1\.1 413 /);
  } finally {
    socket.destroy();
  }
});

test('with a database /config is not available', async () => {
  await using node = await startTestGateway();
  const message = 'this endpoint is only available when Kong is configured to not use a database';
  for (const method of ['GET', 'POST']) {
    const { status, body } = await node.admin(method, '/config', method === 'POST' ? {} : undefined);
    assert.deepEqual([status, body], [400, { message }]);
  }
});

test('the example is valid as a whole', async () => {
  await using node = await startDbLess();
  const text = await readFile(new URL('../../examples/kong.yml', import.meta.url), 'utf8');
  const { status, body } = await node.load(text, { type: 'text/yaml' });
  assert.equal(status, 201, JSON.stringify(body));
});

test('a load is in the audit', async () => {
  await using node = await startDbLess();
  await node.load({ _format_version: '3.0', upstreams: [{ name: 'kong' }] });
  const { body } = await node.admin('GET', '/audit');
  const [record] = body['data'] as readonly Record<string, unknown>[];
  assert.deepEqual([record?.['method'], record?.['path']], ['POST', '/config']);
});
