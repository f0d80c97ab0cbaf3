import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildPlan } from '../../../data/plugin-runner/build-plan.ts';
import { RequestContext } from '../../../data/request/request-context.ts';
import { record } from '../../../plugin-sdk/schema.ts';
import type { StreamLogContext } from '../../../plugin-sdk/stream-contexts.ts';
import { TestClient } from '../../../plugin-testing/test-client.ts';
import { type TestRequest, testExchange } from '../../../plugin-testing/test-exchange.ts';
import { logFields } from '../../fields/queue-fields.ts';
import { sharedValues } from '../../templates/templates.ts';
import { compileLogFields, type LogFieldsConfig, type LogSource, logLine } from './log-fields.ts';
import { luaProblem } from './lua.ts';
import { fieldPath, fieldPathProblem } from './paths.ts';

function contextOf(request: TestRequest = {}): RequestContext {
  const exchange = testExchange(request, buildPlan([]), new TestClient());
  exchange.status = 200;
  exchange.responseBlock = 'X-Kind: simple\r\nX-Many: 1\r\nX-Many: 2\r\n';
  return new RequestContext(exchange);
}

interface Made {
  /** As a reader of the line sees it. */
  readonly read: Record<string, unknown> & { request: Record<string, unknown>; response: Record<string, unknown> };
  readonly counts: Map<string, number>;
}

function made(context: LogSource, config: LogFieldsConfig): Made {
  const counts = new Map<string, number>();
  const fields = compileLogFields(config, {
    count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
  });
  const line = logLine(context, fields);
  return { read: JSON.parse(line ?? '{}'), counts };
}

const stream: StreamLogContext = {
  protocol: 'tcp',
  client: { ip: '192.0.2.9', port: 4000 },
  localIp: '127.0.0.1',
  localPort: 9000,
  serverName: '',
  route: { id: 'r', name: 'streams', tags: [] },
  service: null,
  measures: { startedAt: 1, total: 2, gateway: 1, bytesReceived: 3, bytesSent: 4, status: 200, source: 'upstream' },
  record: () => ({ session: { received: 3, sent: 4 }, client_ip: '192.0.2.9' }),
};

test('templates add fields, replace them and take them out', () => {
  const context = contextOf({ path: '/a?tenant=blue', headers: { 'X-Tenant': 'green', Cookie: 'id=1' } });
  const { read } = made(context, {
    custom_fields: {
      tenant: '$(headers.x_tenant)/$(query_params.tenant)',
      'app.name.short': 'sluice',
      'request.headers.cookie': '',
      'request.id': 'changed',
      'response.headers': '$(response_headers["x-kind"])',
      'client_ip.number': 'not there any more',
      absent: '$(headers.x_absent)',
      upstream_uri: '',
      status: '$(response.status)',
    },
  });
  assert.equal(read['tenant'], 'green/blue');
  assert.deepEqual(read['app'], { name: { short: 'sluice' } });
  assert.deepEqual(Object.keys(read.request['headers'] as object), ['host', 'x-tenant']);
  assert.equal(read.request['id'], 'changed');
  assert.equal(read.request['method'], 'GET');
  assert.equal(read.response['headers'], 'simple');
  assert.deepEqual(read['client_ip'], { number: 'not there any more' });
  assert.deepEqual(['absent' in read, 'upstream_uri' in read, read['status']], [false, false, '200']);
});

test('the record itself, which all plugins share, stays as it is', () => {
  const context = contextOf({ headers: { Cookie: 'id=1' } });
  const before = JSON.stringify(context.record());
  made(context, { custom_fields: { 'request.headers.cookie': '', more: 'x', 'route.name': 'y' } });
  assert.equal(JSON.stringify(context.record()), before);
});

test('expressions of Kong users give what they would there', () => {
  const context = contextOf({
    path: '/a%20b?tenant=blue&flag',
    headers: { 'X-Tenant': ['green', 'second'], 'User-Agent': 'curl' },
    clientIp: '192.0.2.7',
  });
  context.set(sharedValues, { plan: 'gold', deep: { count: 3 } });
  const cases: Readonly<Record<string, unknown>> = {
    "return 'text'": 'text',
    'return "with \\"quotes\\""': 'with "quotes"',
    'return 42': 42,
    'return 1.5': 1.5,
    'return true': true,
    'return false': false,
    'return nil': undefined,
    return: undefined,
    "return kong.request.get_header('X-TENANT')": 'green',
    "return kong.request.get_header('x-none')": undefined,
    "return kong.request.get_header('x-none') or 'none'": 'none',
    'return kong.request.get_header("x-tenant") .. ":" .. kong.response.get_status()': 'green:200',
    "return 'a' .. kong.request.get_header('x-none')": undefined,
    "return 'a' .. (kong.request.get_header('x-none') or '')": 'a',
    "return kong.request.get_query_arg('tenant')": 'blue',
    "return kong.request.get_query_arg('flag')": true,
    'return kong.request.get_path()': '/a b',
    'return kong.request.get_path_with_query()': '/a%20b?tenant=blue&flag',
    'return kong.request.get_method()': 'GET',
    'return kong.request.get_host()': 'test.example',
    "return kong.response.get_header('x-many')": '1',
    'return kong.response.get_status()': 200,
    'return kong.client.get_forwarded_ip()': '192.0.2.7',
    'return kong.client.get_consumer().username': undefined,
    'return kong.client.get_consumer() and kong.client.get_consumer().username or "anonymous"': 'anonymous',
    'return kong.router.get_route().name': 'test-route',
    'return kong.ctx.shared.plan': 'gold',
    'return kong.ctx.shared.deep.count': 3,
    'return kong.ctx.shared["plan"]': 'gold',
    'return kong.ctx.shared.none': undefined,
    " return  ( 'a' ) ": 'a',
  };
  for (const [expression, expected] of Object.entries(cases)) {
    assert.equal(luaProblem(expression), null, expression);
    assert.deepEqual(made(context, { custom_fields_by_lua: { it: expression } }).read['it'], expected, expression);
  }
});

test('Lua beyond that is refused, with what to write instead', () => {
  for (const text of [
    '',
    'nil',
    "'text'",
    'return os.time()',
    'return ngx.var.host',
    "return kong.request.get_header('x'):lower()",
    'return kong.request.get_raw_body()',
    'return kong.request.get_header',
    "return kong.request.get_header('x'",
    'return kong',
    'return kong.ctx.plugin.x',
    'local x = 1 return x',
    "return 'a' return 'b'",
    "return 'a'; os.exit()",
    'return 1 + 1',
    'return not nil',
    'return {}',
    'return [[text]]',
    'return -- nothing',
    'return or',
    `return ${'('.repeat(1000)}1${')'.repeat(1000)}`,
    "return 'open",
    'return function() end',
  ]) {
    assert.match(luaProblem(text) ?? '', /^no Lua runs here.*write a template into custom_fields/s, text);
  }
});

test('the schema names the field that is wrong', () => {
  const config = record(logFields());
  const problems = (given: unknown) => {
    const { error } = config.zod.safeParse(given);
    return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
  };
  assert.deepEqual(
    problems({ custom_fields: { a: '$(headers.x)', 'b.c': '' }, custom_fields_by_lua: { d: 'return nil' } }),
    [],
  );
  assert.match(problems({ custom_fields: { good: 'x', bad: '$(os.x)' } }).join(), /^custom_fields\.bad: .*os/);
  assert.match(
    problems({ custom_fields_by_lua: { bad: 'os.exit()' } }).join(),
    /^custom_fields_by_lua\.bad: no Lua runs/,
  );
  assert.match(problems({ custom_fields: { 'a..b': 'x' } }).join(), /^custom_fields\.a\.\.b: /);
  assert.match(problems({ custom_fields: { '__proto__.x': 'x' } }).join(), /__proto__/);
});

test('dots in names can be escaped', () => {
  assert.deepEqual(fieldPath('request.headers.x\\.y'), ['request', 'headers', 'x.y']);
  assert.deepEqual(fieldPath('a\\b'), ['a\\b']);
  for (const bad of ['.a', 'a.', 'a..b', '__proto__', 'a.__proto__.b', 'a.b.c.d.e.f.g.h.i']) {
    assert.notEqual(fieldPathProblem(bad), null, bad);
  }
  assert.equal(fieldPathProblem('a.b.c.d.e.f.g.h'), null);
});

test('expressions see secrets as masked as the record does', () => {
  const context = contextOf({
    path: '/?apikey=secret&access_token=secret',
    headers: { Authorization: 'Bearer secret' },
  });
  const { read } = made(context, {
    custom_fields: { a: '$(headers.authorization)', b: '$(query_params.apikey)', c: '$(request.query)' },
    custom_fields_by_lua: {
      d: "return kong.request.get_header('authorization')",
      e: "return kong.request.get_query_arg('apikey')",
      f: 'return kong.request.get_path_with_query()',
      g: 'return kong.request.get_headers()',
    },
  });
  assert.equal(JSON.stringify(read).includes('secret'), false);
  assert.deepEqual([read['a'], read['d']], ['REDACTED', 'REDACTED']);
});

test('no value of a client or a plugin can end a line or be read as JSON', () => {
  const hostile = 'a"}\r\n{"forged": true}\u2028\u2029\u0085\u0000\ud800';
  const context = contextOf({ path: `/?${encodeURIComponent('k"\r\n')}=%0d%0a` });
  context.log('plugin', { [hostile]: hostile });
  context.log(hostile, 1);
  context.set(sharedValues, { hostile });
  const fields = compileLogFields(
    { custom_fields: { x: '$(shared.hostile)', [`y${hostile}`]: '$(query_params.k)' } },
    { count() {} },
  );
  const line = logLine(context, fields) ?? '';
  assert.doesNotMatch(line, /[\r\n\0\x85\u2028\u2029]/);
  const read = JSON.parse(line);
  assert.equal(read.x, hostile);
  assert.equal(read.plugin[hostile], hostile);
  assert.equal('forged' in read, false);
});

test('a record that JSON cannot hold is counted, and nothing is thrown', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  let deep: unknown = {};
  for (let level = 0; level < 100_000; level++) deep = { deep };
  const throwing = {
    toJSON() {
      throw new Error('no');
    },
  };
  for (const value of [cycle, 1n, deep, throwing]) {
    const context = contextOf();
    context.log('bad', value);
    assert.deepEqual([...made(context, {}).counts], [['records_unserialisable', 1]]);
    assert.deepEqual([...made(context, { custom_fields: { a: 'b' } }).counts], [['records_unserialisable', 1]]);
  }
});

test('an expression that fails leaves its field out, and is counted', () => {
  const context = contextOf();
  context.set(sharedValues, { long: 'x'.repeat(60_000) });
  const { read, counts } = made(context, { custom_fields: { bad: '$(shared.long)$(shared.long)', good: 'x' } });
  assert.deepEqual([read['bad'], read['good'], [...counts]], [undefined, 'x', [['fields_failed', 1]]]);
});

test('streams have what they have, and nothing fails for what they have not', () => {
  const { read, counts } = made(stream, {
    custom_fields: {
      ip: '$(client.ip)',
      route: '$(route.name)',
      header: '$(headers.x)',
      host: '$(request.host)',
      consumer: '$(consumer.username)',
      shared: '$(shared.x)',
      'session.sent': '',
    },
    custom_fields_by_lua: {
      peer: 'return kong.client.get_ip()',
      name: 'return kong.client.get_consumer().username or "none"',
      port: 'return kong.request.get_port()',
      'request.headers.cookie': 'return nil',
    },
  });
  assert.deepEqual(read, {
    session: { received: 3 },
    client_ip: '192.0.2.9',
    ip: '192.0.2.9',
    route: 'streams',
    peer: '192.0.2.9',
    name: 'none',
    port: 9000,
  });
  assert.equal(counts.size, 0);
});
