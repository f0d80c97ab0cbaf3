import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { run } from '../run.ts';

const cwd = mkdtempSync(join(tmpdir(), 'cli-import-'));
after(() => rmSync(cwd, { recursive: true, force: true }));

const shop = {
  openapi: '3.0.3',
  info: { title: 'Tea Shop!', version: '1' },
  servers: [{ url: 'https://api.example.com/v1' }, { url: 'http://[::1]:9000/v2/' }],
  'x-kong-plugin-cors': { config: { origins: ['*'] } },
  paths: {
    '/orders': { get: { operationId: 'listOrders' }, post: { 'x-kong-name': 'make', 'x-kong-plugin-key-auth': {} } },
    '/orders/latest': { get: { 'x-kong-route-defaults': { preserve_host: true }, responses: {} } },
    '/orders/{order-id}/a.b': {
      head: { operationId: 'one of them' },
      parameters: [{ name: 'order-id', in: 'path', required: true, schema: {} }],
    },
  },
};

async function cli(document: unknown, ...options: readonly string[]) {
  writeFileSync(join(cwd, 'shop.json'), typeof document === 'string' ? document : JSON.stringify(document));
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(['import', 'openapi', 'shop.json', ...options], {
    env: {},
    cwd,
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

test('a dry run prints the services and routes', async () => {
  const { code, out } = await cli(shop, '--dry-run', '--tags', 'shop,import');
  assert.equal(code, 0);
  const { _format_version, services } = parse(out);
  assert.equal(_format_version, '3.0');
  const [service] = services;
  const { routes, plugins, ...fields } = service;
  assert.deepEqual(fields, {
    name: 'tea-shop',
    protocol: 'https',
    host: 'api.example.com',
    port: 443,
    tags: ['shop', 'import'],
  });
  assert.deepEqual(
    plugins.map(({ name }: { name: string }) => name),
    ['cors'],
  );
  const facts = routes.map((route: Record<string, unknown>) => [route['name'], route['methods'], route['paths']]);
  assert.deepEqual(facts, [
    ['listOrders', ['GET', 'HEAD'], ['~/v1/orders$']],
    ['make', ['POST'], ['~/v1/orders$']],
    ['tea-shop-get-orders-latest', ['GET', 'HEAD'], ['~/v1/orders/latest$']],
    ['one-of-them', ['HEAD'], ['~/v1/orders/(?<order_id>[^/]+)/a\\.b$']],
  ]);
  assert.ok(routes[2].preserve_host);
  assert.equal(routes[1].plugins[0].name, 'key-auth');
  assert.equal((await cli(shop, '--dry-run', '--tags', 'shop,import')).out, out);
});

test('name, server and prefix are chosen', async () => {
  const second = parse((await cli(shop, '--dry-run', '--server', '2', '-n', 'tea', '--route-prefix', 'tea-')).out)
    .services[0];
  assert.deepEqual([second.name, second.host, second.port, second.protocol], ['tea', '::1', 9000, 'http']);
  assert.deepEqual([second.routes[0].name, second.routes[0].paths], ['tea-listOrders', ['~/v2/orders$']]);
  const other = parse((await cli(shop, '--dry-run', '-s', 'http://127.0.0.1:81')).out).services[0];
  assert.deepEqual([other.host, other.port, other.routes[0].paths], ['127.0.0.1', 81, ['~/v1/orders$']]);
});

test('an error is reported in one line', async () => {
  const cases: readonly (readonly [unknown, readonly string[], RegExp])[] = [
    [shop, ['--server', '3'], /^Error: shop\.json: \/servers: there is no server 3$/],
    [shop, ['--server', 'http://a/b'], /the path of the option server/],
    [{ ...shop, servers: [{ url: '/v1' }] }, [], /the option server/],
    [{ ...shop, openapi: '2.0' }, [], /shop\.json: \/openapi/],
    ['a: [', [], /not valid YAML/],
    [shop, ['--admin', 'nowhere'], /--admin is not an http or https URL/],
    [shop, ['--admin', 'http://127.0.0.1:1'], /^Error: no answer from the Admin API at http:\/\/127\.0\.0\.1:1: /],
    [shop, ['more'], /unexpected argument 'more'/],
  ];
  for (const [document, options, message] of cases) {
    const { code, err, out } = await cli(document, ...options);
    assert.equal(code, 1);
    assert.match(err, message);
    assert.equal(out, '');
    assert.equal(err.split('\n').length, 1);
  }
  for (const argv of [['import'], ['import', 'openapi'], ['import', 'raml', 'x'], ['import', 'openapi', 'none.yaml']]) {
    const err: string[] = [];
    assert.equal(await run(argv, { env: {}, cwd, out: () => undefined, err: (line) => err.push(line) }), 1);
    assert.equal(err.length, 1);
  }
});
