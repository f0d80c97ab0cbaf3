import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, type IdentityDetails, type Plugin } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type TestOutcome, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import authorization from './index.ts';

type Fields = Readonly<Record<string, unknown>>;

const adaId = '5b0ef6c3-0000-4000-8000-000000000001';
const bobId = '5b0ef6c3-0000-4000-8000-000000000002';
const ada = { id: adaId, username: 'ada', customId: 'A-1', tags: ['staff'] };
const bob = { id: bobId, username: 'bob', customId: null, tags: [] };

interface Client {
  readonly consumer?: typeof ada | typeof bob;
  /** False: the anonymous consumer. */
  readonly credential?: boolean;
  readonly details?: Partial<IdentityDetails>;
}

function authentication(client: Client): Plugin {
  const { consumer = null, credential = true, details } = client;
  return definePlugin({
    name: 'test-auth',
    version: '1.0.0',
    priority: 1500,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access(context) {
        context.authenticate(consumer, credential ? { id: 'c', identifier: null } : null, details);
        return undefined;
      },
    }),
  });
}

const entities = {
  acls: [
    { consumer: { id: adaId }, group: 'writers' },
    { consumer: { id: adaId }, group: 'readers' },
  ],
};

async function outcome(
  config: Fields,
  client: Client | null = null,
  request: TestRequest = {},
  slow = false,
): Promise<TestOutcome & { readonly logged: readonly unknown[] }> {
  const plugin = testPlugin(authorization, {
    config,
    entities,
    slowEntities: slow,
    otherPlugins: client === null ? [] : [{ plugin: authentication(client) }],
  });
  const result = await plugin.request(request);
  return { ...result, logged: plugin.logLines };
}

async function statusOf(rule: Fields, client: Client | null = null, request: TestRequest = {}): Promise<number> {
  return (await outcome({ rules: [{ name: 'only', ...rule }] }, client, request)).response.status;
}

async function problem(config: Fields): Promise<string> {
  const result = await testPlugin(authorization).check(config);
  return result.ok ? '' : result.message;
}

test('requires rules with unique names and without empty conditions', async () => {
  assert.match(await problem({}), /config.rules: required field missing/);
  assert.match(await problem({ rules: [] }), /length must be at least 1/);
  assert.match(await problem({ rules: [{ effect: 'allow' }] }), /name = "required field missing"/);
  assert.match(await problem({ rules: [{ name: 'a' }, { name: 'a' }] }), /two rules are named 'a'/);
  for (const field of [
    'consumers',
    'custom_ids',
    'consumer_tags',
    'groups',
    'scopes',
    'methods',
    'paths',
    'addresses',
  ]) {
    assert.notEqual(await problem({ rules: [{ name: 'a', [field]: [] }] }), '', field);
  }
  assert.notEqual(await problem({ rules: [{ name: 'a', claims: {} }] }), '');
  assert.notEqual(await problem({ rules: [{ name: 'a', claims: { role: [] } }] }), '');
  assert.notEqual(await problem({ rules: [{ name: 'a', effect: 'maybe' }] }), '');
});

test('refuses invalid paths and addresses', async () => {
  for (const path of ['a', '=a', '~(', '~a)|(b', '~(?=a)', '/../a', '/%zz', '']) {
    assert.notEqual(await problem({ rules: [{ name: 'a', paths: [path] }] }), '', path);
  }
  assert.notEqual(await problem({ rules: [{ name: 'a', addresses: ['10.0.0.0/33'] }] }), '');
  assert.equal(await problem({ rules: [{ name: 'a', paths: ['/', '=/a', '~/a/[0-9]+', '/ü'] }] }), '');
});

test('matches consumers by id and by username', async () => {
  assert.equal(await statusOf({ consumers: ['ada'] }, { consumer: ada }), 200);
  assert.equal(await statusOf({ consumers: [adaId] }, { consumer: ada }), 200);
  assert.equal(await statusOf({ consumers: ['bob', bobId, 'A-1'] }, { consumer: ada }), 403);
  assert.equal(await statusOf({ consumers: [adaId] }, { consumer: { ...bob, username: adaId } }), 403);
  assert.equal(await statusOf({ consumers: ['ada'] }, {}), 403);
});

test('matches custom ids and tags of consumers', async () => {
  assert.equal(await statusOf({ custom_ids: ['A-1'] }, { consumer: ada }), 200);
  assert.equal(await statusOf({ custom_ids: ['A-1'] }, { consumer: bob }), 403);
  assert.equal(await statusOf({ consumer_tags: ['guest', 'staff'] }, { consumer: ada }), 200);
  assert.equal(await statusOf({ consumer_tags: ['staff'] }, { consumer: bob }), 403);
});

test('matches groups of the consumer and of the authentication', async () => {
  for (const slow of [false, true]) {
    const rules = [{ name: 'only', groups: ['writers', 'editors'] }];
    const status = async (client: Client): Promise<number> =>
      (await outcome({ rules }, client, {}, slow)).response.status;
    assert.equal(await status({ consumer: ada }), 200);
    assert.equal(await status({ consumer: bob }), 403);
    assert.equal(await status({ consumer: bob, details: { groups: ['editors'] } }), 200);
    assert.equal(await status({ details: { groups: ['editors'] } }), 200);
    assert.equal(await status({ details: { groups: ['others'] } }), 403);
  }
});

test('matches if the token has all scopes of one entry', async () => {
  const rule = { scopes: ['admin', 'read write'] };
  const having = (scopes: readonly string[]): Client => ({ details: { scopes } });
  assert.equal(await statusOf(rule, having(['admin'])), 200);
  assert.equal(await statusOf(rule, having(['write', 'x', 'read'])), 200);
  assert.equal(await statusOf(rule, having(['read'])), 403);
  assert.equal(await statusOf(rule, having(['read write'])), 403);
  assert.equal(await statusOf(rule, { details: { claims: { scope: 'write read' } } }), 200);
  assert.equal(await statusOf(rule, { details: { claims: { scp: ['admin'] } } }), 200);
  assert.equal(await statusOf(rule, { details: { scopes: [], claims: { scope: 'admin' } } }), 403);
  assert.equal(await statusOf(rule, {}), 403);
});

test('matches if each named claim has one of its values', async () => {
  const having = (claims: Fields): Client => ({ details: { claims } });
  assert.equal(await statusOf({ claims: { role: ['admin', 'root'] } }, having({ role: 'root' })), 200);
  assert.equal(await statusOf({ claims: { role: ['admin'] } }, having({ role: ['user', 'admin'] })), 200);
  assert.equal(await statusOf({ claims: { role: ['admin'] } }, having({ role: 'user' })), 403);
  assert.equal(await statusOf({ claims: { role: ['admin'], level: ['3'] } }, having({ role: 'admin', level: 3 })), 200);
  assert.equal(await statusOf({ claims: { role: ['admin'], level: ['3'] } }, having({ role: 'admin' })), 403);
  assert.equal(await statusOf({ claims: { 'a.roles': ['x'] } }, having({ a: { roles: ['x'] } })), 200);
  assert.equal(await statusOf({ claims: { 'https://a.b/c': ['x'] } }, having({ 'https://a.b/c': 'x' })), 200);
  assert.equal(await statusOf({ claims: { verified: ['true'] } }, having({ verified: true })), 200);
  for (const claims of [{}, { role: null }, { role: { admin: true } }, { role: ['adm', ['admin']] }]) {
    assert.equal(await statusOf({ claims: { role: ['admin'] } }, having(claims)), 403);
  }
  for (const name of ['constructor.name', 'toString', 'role.constructor.name']) {
    assert.equal(await statusOf({ claims: { [name]: ['Object'] } }, having({})), 403);
  }
});

test('matches methods and addresses', async () => {
  assert.equal(await statusOf({ methods: ['GET', 'HEAD'] }), 200);
  assert.equal(await statusOf({ methods: ['GET', 'HEAD'] }, null, { method: 'POST' }), 403);
  assert.equal(await statusOf({ addresses: ['10.0.0.0/8'] }, null, { clientIp: '10.1.2.3' }), 200);
  assert.equal(await statusOf({ addresses: ['10.0.0.0/8'] }, null, { clientIp: '11.1.2.3' }), 403);
});

test('matches the normalised path by whole segments, exactly, or by expression', async () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['/a', '/a', true],
    ['/a', '/a/b?x=1', true],
    ['/a', '/ab', false],
    ['/a', '/A', false],
    ['/a', '/b/../a', true],
    ['/a', '//a', true],
    ['/a', '/%61', true],
    ['/a', '/a;x', false],
    ['/a/', '/a/b', true],
    ['/a/', '/a', false],
    ['/', '/anything', true],
    ['=/a', '/a', true],
    ['=/a', '/a/', false],
    ['=/%7ea', '/~a', true],
    ['/ü', '/%C3%BC/x', true],
    ['~/a/[0-9]+', '/a/12/b', true],
    ['~/a/[0-9]+$', '/a/12/b', false],
    ['~/a|/b', '/c/b', false],
    ['~[0-9]', '/a/1', false],
  ];
  for (const [entry, path, expected] of cases) {
    assert.equal(await statusOf({ paths: [entry] }, null, { path }), expected ? 200 : 403, `${entry} ${path}`);
  }
});

test('denies a path in the other spellings that some servers accept', async () => {
  const config = { rules: [{ name: 'no', effect: 'deny', paths: ['/admin'] }], default: 'allow' };
  for (const path of [
    '/admin',
    '/admin/x',
    '/admin;x',
    '/admin;v=1/x',
    '/admin%2f..',
    '/admin%2fx',
    '/admin%5cx',
    '/x/../admin',
    '/%61dmin',
    '//admin',
    '/%2fadmin',
    '/%5cadmin',
    '/;v=1/admin',
    '/x/..;/admin',
    '/x/..;v=1/admin;v=2/y',
    '/x/%2e%2e;/admin',
    '/x%2f..%2fadmin',
    '/x%2F%2e%2e%2Fadmin/y',
    '/x%5c..%5cadmin',
    '/x%5C..%2Fadmin',
    '/x%252f..%252fadmin',
    '/x/..%3b/admin',
    '/x/..%253b/admin',
    '/x;%2f..%2f../admin',
    '/%25%36%31dmin',
    '/x/..%c0%afadmin',
  ]) {
    assert.equal((await outcome(config, null, { path })).response.status, 403, path);
  }
  assert.equal((await outcome(config, null, { path: '/administration' })).response.status, 200);
});

test('applies a deny rule to the other spellings of a path, and to no other path', async () => {
  for (const entry of ['=/admin', '~/admin$', '~/admin/?$']) {
    const config = { rules: [{ name: 'no', effect: 'deny', paths: [entry] }], default: 'allow' };
    for (const path of ['/admin', '/admin;v=1', '/x%2f..%2fadmin', '/%5cadmin', '/x/..;/admin']) {
      assert.equal((await outcome(config, null, { path })).response.status, 403, `${entry} ${path}`);
    }
    for (const path of ['/administration', '/x/admin', '/x%2fadmin', '/admin%2fx', '/x;admin', '/%41dmin']) {
      assert.equal((await outcome(config, null, { path })).response.status, 200, `${entry} ${path}`);
    }
  }
  const exact = { rules: [{ name: 'no', effect: 'deny', paths: ['=/admin'] }], default: 'allow' };
  for (const path of ['/admin/', '/admin/;x', '/admin%2f']) {
    assert.equal((await outcome(exact, null, { path })).response.status, 403, path);
  }
});

test('applies an allow rule only to paths that no server reads as another path', async () => {
  const config = { rules: [{ name: 'public', paths: ['/public', '/docs'] }] };
  for (const path of [
    '/public',
    '/public/x',
    '/public/a%2fb',
    '/public/a;v=1/b',
    '/public/50%25',
    '/public/x%2f..%2f',
    '/docs/%5c',
    '/public/..%2fdocs',
  ]) {
    assert.equal((await outcome(config, null, { path })).response.status, 200, path);
  }
  for (const path of [
    '/public/..%2fadmin',
    '/public/..%5cadmin',
    '/public/..;/admin',
    '/public/..;v=1/admin',
    '/public/x%2f..%2f..%2fadmin',
    '/public/..%252fadmin',
    '/public%2fx',
    '/public;x',
    '/public/..%c0%afadmin',
  ]) {
    assert.equal((await outcome(config, null, { path })).response.status, 403, path);
  }
});

test('requires all conditions of a rule', async () => {
  const rule = { consumers: ['ada'], methods: ['GET'], paths: ['/a'] };
  assert.equal(await statusOf(rule, { consumer: ada }, { path: '/a' }), 200);
  assert.equal(await statusOf(rule, { consumer: ada }, { path: '/b' }), 403);
  assert.equal(await statusOf(rule, { consumer: bob }, { path: '/a' }), 403);
  assert.equal(await statusOf(rule, { consumer: ada }, { path: '/a', method: 'PUT' }), 403);
});

test('applies the first matching rule, or the default', async () => {
  const rules = [
    { name: 'admins', paths: ['/admin'], consumers: ['ada'] },
    { name: 'nobody else', effect: 'deny', paths: ['/admin'] },
    { name: 'reading', methods: ['GET'] },
  ];
  const status = async (client: Client, path: string, method = 'GET'): Promise<number> =>
    (await outcome({ rules }, client, { path, method })).response.status;
  assert.equal(await status({ consumer: ada }, '/admin', 'PUT'), 200);
  assert.equal(await status({ consumer: bob }, '/admin'), 403);
  assert.equal(await status({ consumer: bob }, '/other'), 200);
  assert.equal(await status({ consumer: bob }, '/other', 'PUT'), 403);
  const open = await outcome({ rules, default: 'allow' }, { consumer: bob }, { path: '/other', method: 'PUT' });
  assert.equal(open.response.status, 200);
});

test('answers 401 if a credential could help, else 403', async () => {
  assert.equal(await statusOf({ consumers: ['ada'] }), 401);
  assert.equal(await statusOf({ authenticated: true }), 401);
  assert.equal(await statusOf({ authenticated: true }, { consumer: bob, credential: false }), 401);
  assert.equal(await statusOf({ authenticated: true }, { consumer: bob }), 200);
  assert.equal(await statusOf({ authenticated: false }, null), 200);
  assert.equal(await statusOf({ authenticated: false }, { consumer: bob }), 403);
  assert.equal(await statusOf({ consumers: ['ada'], methods: ['PUT'] }), 403);
  assert.equal(await statusOf({ methods: ['PUT'] }), 403);
  const denied = { rules: [{ name: 'a', effect: 'deny', authenticated: false }], default: 'allow' };
  assert.equal((await outcome(denied)).response.status, 401);
});

test('logs the reason and never shows it in the answer', async () => {
  const rules = [
    { name: 'secret-rule', paths: ['/x'], consumers: ['ada'] },
    { name: 'other-rule', consumers: ['eve'] },
  ];
  const refused = await outcome({ rules }, { consumer: bob }, { path: '/x' });
  assert.deepEqual(refused.record['authorization'], {
    effect: 'deny',
    rule: null,
    missed: [
      { rule: 'secret-rule', condition: 'consumers' },
      { rule: 'other-rule', condition: 'consumers' },
    ],
  });
  assert.equal(
    refused.response.body,
    `{\n  "message":"You cannot consume this service",\n  "request_id":"${refused.requestId}"\n}`,
  );
  assert.doesNotMatch(JSON.stringify(refused.response), /rule/);
  assert.match(JSON.stringify(refused.logged), /secret-rule/);
  const allowed = await outcome({ rules }, { consumer: ada }, { path: '/x' });
  assert.deepEqual(allowed.record['authorization'], { effect: 'allow', rule: 'secret-rule' });
  assert.deepEqual(allowed.logged, []);
  const denied = await outcome({ rules: [{ name: 'no', effect: 'deny' }] });
  assert.deepEqual(denied.record['authorization'], { effect: 'deny', rule: 'no' });
});

test('refuses nothing in a dry run, and logs each decision', async () => {
  const config = { rules: [{ name: 'no', effect: 'deny' }], dry_run: true };
  const { response, record: log, logged } = await outcome(config);
  assert.equal(response.status, 200);
  assert.deepEqual(log['authorization'], { effect: 'deny', rule: 'no' });
  assert.match(JSON.stringify(logged), /request would be refused/);
});
