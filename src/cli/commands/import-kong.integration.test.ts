import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { type KongRow, startKongStandIn } from '../../../test/support/kong.ts';
import { ada, id, kongHash, kongRows, plugin, route, withRows } from '../import/kong/kong-rows.fixture.ts';
import type { ImportReport } from '../import/kong/report/import-report.ts';
import { runCommand } from '../testing/run-command.ts';

type Rows = Readonly<Record<string, readonly KongRow[]>>;

const folder = mkdtempSync(join(tmpdir(), 'import-kong-'));
let backend: TestBackend;
let gateway: TestGateway;
let rows: Rows;

before(async () => {
  backend = await startBackend();
  gateway = await startTestGateway({ settings: { plugins: ['bundled'] } });
  rows = kongRows({ host: '127.0.0.1', port: backend.port });
});
after(async () => {
  await gateway?.stop();
  await backend?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function importRows(given: Rows, ...options: readonly string[]) {
  await using kong = await startKongStandIn({ rows: given });
  return await importInto(gateway, '--admin-url', kong.url, ...options);
}

function importInto(target: TestGateway, ...options: readonly string[]) {
  return runCommand(folder, 'import', 'kong', '--admin', target.adminUrl, ...options);
}

async function statusOf(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(gateway.proxyUrl + path, { headers: { ...headers, connection: 'close' } });
  await response.arrayBuffer();
  return response.status;
}

function basic(user: string, password: string): Readonly<Record<string, string>> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

function token(issuer: string, secret: string): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: issuer })}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

test('a whole Kong is carried over, and its clients keep their credentials', async () => {
  const withJwt = withRows(rows, { '/plugins': [plugin(20, 'jwt', {}, { route: { id: id(2, 4) } })] });
  const { code, output, errors } = await importRows(withJwt);
  assert.equal(errors, '');
  assert.equal(code, 0);
  assert.match(output, /^Carried over:$/m);
  assert.match(output, /^ {2}routes +5$/m);
  assert.match(output, /: 28 created, 0 updated, 0 deleted, 0 unchanged$/m);
  assert.match(output, /how a password is stored.*\n +basic-auth credential of consumer ada$/m);
  assert.doesNotMatch(output, /key-of-ada|jwt-secret|hmac-secret|BEGIN|aGFzaGhh/, 'no secret is printed');

  assert.equal(await statusOf('/users'), 401);
  assert.equal(await statusOf('/users', { apikey: 'key-of-ada' }), 200);
  assert.equal(await statusOf('/users', { apikey: 'key-of-bob' }), 403, 'not in the acl group');
  assert.equal(await statusOf('/accounts', basic('ada', 'swordfish')), 200);
  assert.equal(await statusOf('/accounts', basic('ada', 'sword')), 401);
  const tenant = { 'x-tenant': 'b' };
  assert.equal(await statusOf('/orders', { ...tenant, authorization: `Bearer ${token('issuer', 'jwt-secret')}` }), 200);
  assert.equal(await statusOf('/orders', { ...tenant, authorization: `Bearer ${token('issuer', 'other')}` }), 401);
  assert.equal(await statusOf('/tokens/7'), 200);
  assert.equal(await statusOf('/tokens/seven'), 404);

  const consumer = (await gateway.admin('GET', '/consumers/ada')).body;
  assert.equal(consumer['id'], ada);
  assert.equal(consumer['created_at'], 1_700_000_000);
  const stored = (await gateway.admin('GET', '/basic-auths/ada')).body['password'];
  assert.equal(stored, `$kong-sha1$${kongHash('swordfish', ada)}`);
  assert.deepEqual((await gateway.admin('GET', '/certificates/a.test')).body['snis'], ['a.test']);
  const targets = (await gateway.admin('GET', '/upstreams/pool.internal/targets')).body['data'] as KongRow[];
  assert.deepEqual(
    targets.map(({ target, weight }) => [target, weight]),
    [
      ['127.0.0.1:9002', 0],
      ['127.0.0.1:9001', 100],
    ],
  );
});

test('a second import changes nothing', async () => {
  await importRows(rows, '--replace');
  const { output } = await importRows(rows);
  assert.match(output, /: 0 created, 0 updated, 0 deleted, 27 unchanged$/m);
});

test('what Kong does not have stays, unless it has to be replaced', async () => {
  await importRows(rows);
  await gateway.admin('PUT', '/consumers/of-here', {});
  assert.match((await importRows(rows)).output, /0 deleted/);
  assert.equal((await gateway.admin('GET', '/consumers/of-here')).status, 200);
  assert.match((await importRows(rows, '--replace')).output, /: 0 created, 0 updated, \d+ deleted, 27 unchanged/);
  assert.equal((await gateway.admin('GET', '/consumers/of-here')).status, 404);
});

test('a route never goes open because its plugin is missing', async () => {
  const guard = plugin(30, 'aws-auth', { pool: 'a' }, { route: { id: id(2, 30) } });
  const more = withRows(rows, { '/plugins': [guard], '/routes': [route(30, 'guarded', { paths: ['/guarded'] })] });
  const stopped = await importRows(more);
  assert.equal(stopped.code, 1);
  assert.match(stopped.errors, /^Error: nothing was written: accept what would be lost with --without aws-auth$/);
  assert.match(stopped.output, /^ {2}- plugin aws-auth of route guarded: the gateway has no such plugin$/m);
  assert.equal((await gateway.admin('GET', '/routes/guarded')).status, 404);
  assert.equal(await statusOf('/guarded'), 404);

  const accepted = await importRows(more, '--without', 'aws-auth');
  assert.equal(accepted.code, 2);
  assert.equal(await statusOf('/guarded'), 200);

  const disabled = withRows(rows, { '/plugins': [{ ...guard, enabled: false, route: null }] });
  assert.equal((await importRows(disabled)).code, 2, 'a disabled instance protects nothing');
});

test('what the gateway refuses stops the import: an expression that could match something else, a field it does not know', async () => {
  const lookAround = route(31, 'look', { paths: ['~/a(?!b)'] });
  const realms = plugin(
    32,
    'key-auth',
    { key_names: ['k'], identity_realms: [{ scope: 'cp' }] },
    { route: { id: id(2, 31) } },
  );
  const more = withRows(rows, { '/routes': [lookAround], '/plugins': [realms] });
  const stopped = await importRows(more);
  assert.equal(stopped.code, 1);
  assert.match(stopped.output, /^ {2}- route look: paths\[0\]: invalid regex/m);
  assert.match(stopped.output, /plugin key-auth of route look: its route look is left out/);
  assert.match(
    stopped.output,
    /field config.identity_realms of plugin key-auth of route look: the gateway has no such field/,
  );
  const { code } = await importRows(more, '--without', 'routes/look', '--without', 'key-auth.identity_realms');
  assert.equal(code, 2);
  assert.equal((await gateway.admin('GET', '/routes/look')).status, 404);
  const misspelt = await importRows(rows, '--without', 'key-aut');
  assert.match(misspelt.errors, /^Warning: --without key-aut: nothing has that name$/);
});

test('consumer groups, expressions, filters and vault references are reported with what to do', async () => {
  const groups = [{ id: id(20, 1), name: 'gold', created_at: 1, updated_at: 1, tags: null }];
  const more = withRows(rows, {
    '/consumer_groups': groups,
    '/vaults': [
      { id: id(21, 1), prefix: 'env', name: 'env', description: null, config: {}, created_at: 1, tags: null },
    ],
    '/filter-chains': [
      { id: id(22, 1), name: 'wasm', enabled: true, filters: [], route: { id: id(2, 1) }, tags: null },
    ],
    '/routes': [route(33, 'expression', { expression: 'http.path == "/e"', priority: 1 })],
    '/plugins': [
      plugin(33, 'rate-limiting', { minute: 1 }, { consumer_group: { id: id(20, 1) } }),
      plugin(34, 'session', { secret: '{vault://env/secret}' }, { route: { id: id(2, 3) } }),
    ],
  });
  const options = ['consumer_groups', 'filter_chains', 'routes/expression'].flatMap((name) => ['--without', name]);
  assert.equal((await importRows(more)).code, 1);
  const { code, output } = await importRows(more, ...options, '--json');
  assert.equal(code, 2);
  const report = JSON.parse(output) as ImportReport;
  assert.deepEqual(report.leftOut.map(({ what, why }) => `${what}: ${why}`).sort(), [
    'consumer group gold: there are no consumer groups',
    'filter chain wasm of route users: there are no Wasm filters',
    'plugin rate-limiting of consumer group gold: it belongs to a consumer group, and there are none',
    'route expression: as --without says',
    'the value of config.secret of plugin session of route tokens: it is a reference to a vault, and there are none',
    'vault env: there are no vaults',
  ]);
  assert.equal(
    report.differences.some(({ topic }) => topic.startsWith('a reference to a vault')),
    true,
  );
  assert.equal(await statusOf('/tokens/7'), 500, 'as the report says');
  await gateway.admin('DELETE', `/plugins/${id(4, 34)}`);
});

test('a plugin that the node does not have is missing, whatever is bundled', async () => {
  await using small = await startTestGateway({ settings: { plugins: ['key-auth', 'basic-auth', 'correlation-id'] } });
  await using kong = await startKongStandIn({ rows });
  const { code, errors } = await importInto(small, '--admin-url', kong.url);
  assert.equal(code, 1);
  assert.match(errors, /with --without acl --without rate-limiting$/);
  const dry = await importInto(small, '--admin-url', kong.url, '--dry-run');
  assert.match(
    dry.output,
    /^Nothing is written until you accept these losses: --without acl --without rate-limiting$/m,
  );
});

test('what no Lua can do here is refused with the way to do it, and what can be done is carried over', async () => {
  const log = (number: number, lua: string) =>
    plugin(
      number,
      'http-log',
      { http_endpoint: 'http://127.0.0.1:9/', custom_fields_by_lua: { tenant: lua } },
      { route: { id: id(2, number === 40 ? 3 : 4) } },
    );
  const transformer = plugin(42, 'request-transformer', { add: { headers: ["x-who:$(headers['who'] or 'none')"] } });
  const fine = withRows(rows, { '/plugins': [log(40, "return kong.request.get_header('x-tenant')"), transformer] });
  const { code, output } = await importRows(fine, '--dry-run');
  assert.equal(code, 0);
  assert.match(output, /any Lua\. Here: strings, numbers.*\n +plugin http-log of route tokens$/m);
  assert.match(output, / - templates\. .*\n +plugin request-transformer$/m);
  const loop = 'local n = 0 while true do n = n + 1 end return n';
  const stopped = await importRows(withRows(rows, { '/plugins': [log(41, loop)] }));
  assert.equal(stopped.code, 1);
  assert.match(stopped.output, /- plugin http-log of route orders: config\.custom_fields_by_lua\.tenant: /);
  const similar = withRows(rows, { '/plugins': [plugin(43, 'rate-limiting-advanced', { limit: [5] })] });
  assert.match(
    (await importRows(similar)).output,
    /replace it by rate-limiting or throttling, which does much the same/,
  );
});

test('a dry run and a file write nothing into the gateway; the file is what the import would have written', async () => {
  await using empty = await startTestGateway({ settings: { plugins: ['bundled'] } });
  await using kong = await startKongStandIn({ rows });
  const dry = await runCommand(folder, 'import', 'kong', '--admin-url', kong.url, '--dry-run');
  assert.equal(dry.code, 0);
  assert.match(dry.output, /^Can be carried over:$/m);
  for (const name of ['kong.yml', 'kong.json']) {
    const { code, output } = await runCommand(folder, 'import', 'kong', '--admin-url', kong.url, '-o', name);
    assert.equal(code, 0);
    assert.match(output, new RegExp(`^written: ${name}$`, 'm'));
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, 'it contains secrets');
  }
  assert.deepEqual((await empty.admin('GET', '/services')).body['data'], []);
  const type = { 'Content-Type': 'application/yaml' };
  const body = readFileSync(join(folder, 'kong.yml'));
  const applied = await fetch(`${empty.adminUrl}/config/apply`, { method: 'POST', headers: type, body });
  assert.equal(applied.status, 200, await applied.text());
  const { output } = await importInto(empty, '--admin-url', kong.url);
  assert.match(output, /: 0 created, 0 updated, 0 deleted, 27 unchanged$/m);
});

test('a dump of decK needs the ids of consumers for hashes; a db_export has them', async () => {
  await using empty = await startTestGateway({ settings: { plugins: ['bundled'] } });
  const dump = (consumer: string) => `
_format_version: "3.0"
_info: { defaults: {}, select_tags: [mine] }
consumers:
- username: grace
  ${consumer}
  basicauth_credentials:
  - { username: grace, password: ${kongHash('hopper', id(30, 1))} }
`;
  writeFileSync(join(folder, 'without-ids.yaml'), dump('custom_id: g'));
  const without = await importInto(empty, 'without-ids.yaml');
  assert.equal(without.code, 1);
  assert.match(
    without.output,
    /basic-auth credential of consumer grace: Kong's hash .* contains the id of the consumer/,
  );
  assert.match(without.output, /dump with --with-id/);
  writeFileSync(join(folder, 'with-ids.yaml'), dump(`id: ${id(30, 1)}`));
  writeFileSync(
    join(folder, 'export.json'),
    JSON.stringify({
      _format_version: '3.0',
      _transform: false,
      services: [{ id: id(1, 40), name: 'exported', host: '127.0.0.1', port: backend.port, ws_id: id(0, 1) }],
      routes: [{ id: id(2, 40), name: 'exported', paths: ['/exported'], service: id(1, 40) }],
      plugins: [{ id: id(4, 40), name: 'basic-auth', route: id(2, 40), config: { realm: 'service' } }],
    }),
  );
  const both = await importInto(empty, 'with-ids.yaml', 'export.json');
  assert.equal(both.code, 0, both.output + both.errors);
  const headers = { ...basic('grace', 'hopper'), connection: 'close' };
  assert.equal((await fetch(`${empty.proxyUrl}/exported`, { headers })).status, 200);
  assert.deepEqual((await empty.admin('GET', '/consumers/grace')).body['tags'], ['mine']);
});

const unreadable: readonly (readonly [string, string, RegExp])[] = [
  ['bad.yaml', 'services:\n  - name: [', /^Error: bad\.yaml: line \d+: /],
  ['none.yaml', 'services: []', /^Error: none\.yaml: _format_version must be one of "1\.1", "2\.1", "3\.0"$/],
  ['proto.json', '{"_format_version":"3.0","__proto__":{"a":1}}', /^Error: proto\.json:.* .*__proto__/],
  ['list.yaml', '_format_version: "3.0"\nservices: {a: 1}', /^Error: list\.yaml: services is not a list$/],
  ['element.yaml', '_format_version: "3.0"\nservices: [7]', /^Error: element\.yaml: services\[0\] is not an entity$/],
  [
    'variable.yaml',
    `_format_version: "3.0"\nconsumers: [{username: '${'$'}{{ env "DECK_NAME" }}'}]`,
    /^Error: variable\.yaml: line 2: has a variable of decK/,
  ],
];
for (const [name, text, message] of unreadable) {
  test(`refuses ${name}`, async () => {
    writeFileSync(join(folder, name), text);
    const { code, errors } = await runCommand(folder, 'import', 'kong', name, '--dry-run');
    assert.match(errors, message);
    assert.equal(code, 1);
  });
}

test('says what is missing: a source, a file, a node', async () => {
  const usage = await runCommand(folder, 'import', 'kong', '--dry-run');
  assert.match(usage.errors, /^Error: usage: sluicegate import kong --admin-url/);
  const kinds = await runCommand(folder, 'import', 'nginx', 'nginx.conf');
  assert.match(kinds.errors, /^Error: usage: sluicegate import openapi <file>, or sluicegate import kong <file>/);
  const missing = await runCommand(folder, 'import', 'kong', 'nothing.yaml', '--dry-run');
  assert.match(missing.errors, /^Error: cannot read nothing\.yaml: ENOENT/);
  const stopped = await runCommand(folder, 'import', 'kong', 'with-ids.yaml', '-p', join(folder, 'nowhere'));
  assert.match(stopped.errors, /pass the URL of an Admin API with --admin$/);
});

test('another Sluicegate can be the source', async () => {
  await importRows(rows, '--replace');
  await using copy = await startTestGateway({ settings: { plugins: ['bundled'] } });
  const { code, output, errors } = await importInto(copy, '--admin-url', gateway.adminUrl);
  assert.equal(errors, '');
  assert.equal(code, 0, output);
  assert.match(output, /: 27 created/);
  assert.equal((await importInto(copy, '--admin-url', gateway.adminUrl)).output.match(/(\d+) updated/)?.[1], '0');
});
