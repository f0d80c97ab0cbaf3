import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols } from '../../plugin-sdk/define-plugin.ts';
import { replyJson } from '../../plugin-sdk/reply.ts';
import { array, type Infer, record, string } from '../../plugin-sdk/schema.ts';
import { type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import {
  compileTemplate,
  sharedValues,
  TemplateFailure,
  type TemplateOptions,
  templateProblem,
  unsafePath,
} from './templates.ts';

const config = record({ texts: array(string()), target: string({ default: 'text' }) });

/** Answers with what templates give. */
const renderer = definePlugin<Infer<typeof config>>({
  name: 'renderer',
  version: '1.0.0',
  priority: 2,
  protocols: httpProtocols,
  schema: { config },
  setup({ texts, target }) {
    const templates = (texts ?? []).map((text) => compileTemplate(text, { target } as TemplateOptions));
    return {
      access(context) {
        context.set(sharedValues, { colour: 'blue', nested: { list: ['first', 2, null] } });
        return replyJson(
          200,
          templates.map((template) => template.render(context)),
        );
      },
    };
  },
});

const authenticator = definePlugin({
  name: 'authenticator',
  version: '1.0.0',
  priority: 1000,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    access(context) {
      const consumer = { id: 'c-1', username: 'ada', customId: null, tags: [] };
      context.authenticate(consumer, { id: 'k-1', identifier: 'key' }, { claims: { sub: 's', roles: ['a', 'b'] } });
      return undefined;
    },
  }),
});

async function render(texts: readonly string[], request: TestRequest = {}, target = 'text'): Promise<unknown> {
  const plugin = testPlugin(renderer, { config: { texts, target }, otherPlugins: [{ plugin: authenticator }] });
  const { response } = await plugin.request(request);
  assert.equal(response.status, 200);
  return JSON.parse(response.body);
}

test('values of the request, of the client, of the route and of other plugins', async () => {
  const request = { path: '/p?q=1&q=2&z=%C3%A9+e', headers: { 'X-One': 'a', 'x-two': ['b', 'c'], accept: 'é' } };
  assert.deepEqual(
    await render(
      [
        '<$(headers.X_One)>',
        "$(headers['x-two'])",
        '$(headers["accept"])',
        '$(query_params.q) $(query_params.z)',
        '$(consumer.username)/$(consumer.id)/$(consumer.custom_id)',
        '$(credential.identifier)',
        '$(claims.sub) $(claims.roles[2]) $(claims.roles)',
        '$(client.ip) $(route.name) $(service.name)',
        '$(request.method) $(request.scheme)://$(request.host)$(request.path)?$(request.query)',
        '$(shared.colour) $(shared.nested.list[1]) $(shared.nothing.there)',
      ],
      request,
    ),
    [
      '<a>',
      'b, c',
      'é',
      '1 é e',
      'ada/c-1/',
      'key',
      's b ["a","b"]',
      '127.0.0.1 test-route test-service',
      'GET http://test.example/p?q=1&q=2&z=%C3%A9+e',
      'blue first ',
    ],
  );
});

test('texts, or, and, comparisons, functions', async () => {
  const cases: readonly (readonly [string, string])[] = [
    ['plain $5 $ ) (text', 'plain $5 $ ) (text'],
    ["$('$(')x)", '$(x)'],
    ["$(headers.none or query_params.none or 'last')", 'last'],
    ["$(query_params.empty or 'x')", ''],
    ["$(default(query_params.empty, 'x'))", 'x'],
    ["$(query_params.a == '1' and 'yes' or 'no')", 'yes'],
    ["$(not headers.none and 'absent')", 'absent'],
    ["$('a' .. 1 .. true .. nil .. 'z')", 'a1truez'],
    ["$(upper('ab'))$(lower('CD'))$(trim(' e '))", 'ABcde'],
    ["$(('Bearer x'):sub(8))$(string.sub('abc', -2, -2))", 'xb'],
    ["$(base64('a:b')) $(base64decode('YTpi'))", 'YTpi a:b'],
    ["$(urlencode('a b/c&d')) $(urldecode('a+b%2F'))", 'a%20b%2Fc%26d a b/'],
    ["$(replace('a.b.c', '.', '-')) $(len('abc')) $(tonumber('12') > 3)", 'a-b-c 3 true'],
    ["$(lower(headers.none) or 'none')", 'none'],
    ["$(headers['x-' .. query_params.name])", 'one'],
    ['$(-1)', '-1'],
  ];
  const request = { path: '/?a=1&empty=&name=one', headers: { 'x-one': 'one' } };
  assert.deepEqual(
    await render(
      cases.map(([text]) => text),
      request,
    ),
    cases.map(([, result]) => result),
  );
});

test('what a client claims of itself and of its way is not believed', async () => {
  const headers = {
    'X-Consumer-Username': 'root',
    'X-Forwarded-For': '10.0.0.1',
    'X-Forwarded-Proto': 'https',
    'X-Userinfo': 'e30=',
    X_Consumer_Groups: 'admins',
  };
  const names = ['x-consumer-username', 'x-forwarded-for', 'x-forwarded-proto', 'x-userinfo', 'x_consumer_groups'];
  assert.deepEqual(
    await render(
      names.map((name) => `$(headers['${name}'])`),
      { headers },
    ),
    ['ada', '127.0.0.1', 'http', '', ''],
  );
});

test('in a path values are encoded; texts and what a path is made of stay', async () => {
  const request = { path: '/?x=a%2Fb%3Fc%23d%20%C3%A9&up=..&n=' };
  assert.deepEqual(
    await render(
      ['/é/$(query_params.x)', '/$(path(query_params.x))', "/$(query_params.none or 'a/b')", '/$(query_params.up)/x'],
      request,
      'path',
    ),
    ['/Ã©/a%2Fb%3Fc%23d%20%C3%A9', '/a/b%3Fc%23d%20%C3%A9', '/a/b', '/../x'],
  );
});

test('paths that could be read as another one are known', () => {
  for (const path of [
    '/..',
    '/a/../b',
    '/a/.',
    '/%2e%2E/b',
    '/a%2f..%5cb',
    '/a/..;x/b',
    '/a\\..\\b',
    '/%00',
    '/a\r\n',
  ]) {
    assert.equal(unsafePath(path), true, path);
  }
  for (const path of ['/', '/a/.well-known/b', '/a/...', '/a..b/c', '/%20', '/a;x/b', '//a']) {
    assert.equal(unsafePath(path), false, path);
  }
});

test('templates that cannot be read are refused with the reason', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['$(headers.x', /is not closed/],
    ['$()', /'\)' is not expected/],
    ['$(headers.x-y)', /headers\['x-name'\]/],
    ['$(nothing.x)', /there is no 'nothing', but headers, query_params/],
    ['$(headers)', /name one of them/],
    ['$(consumer.password)', /there is no 'password' here, but id, username, custom_id/],
    ["$(os.execute('x'))", /not expected|there is no 'os'/],
    ["$(require('fs'))", /there is no function 'require'/],
    ['$(lower())', /other arguments/],
    ["$('a)", /is not expected/],
    ['$(1 + 1)', /is not expected/],
    ['$(-headers.x)', /is not expected/],
    [`$(${'('.repeat(5000)}1${')'.repeat(5000)})`, /longer than/],
    [`$(${'('.repeat(500)}1${')'.repeat(500)})`, /nested deeper/],
    [`$(${'1 .. '.repeat(500)}1)`, /more than 256 parts/],
    ['$(constructor.constructor)', /there is no 'constructor'/],
    ['$(response.status)', /there is no 'response'/],
  ];
  for (const [text, reason] of cases) assert.match(templateProblem(text) ?? 'accepted', reason, text.slice(0, 40));
  assert.equal(templateProblem('$(response.status) $(response_headers.x)', { over: 'answer' }), null);
});

test('what grows without bound and what cannot be compared fails', async () => {
  const plugin = testPlugin(renderer, {
    config: { texts: ["$(replace(replace(headers.x, 'a', headers.x), 'a', headers.x))"] },
  });
  assert.equal((await plugin.request({ headers: { x: 'a'.repeat(3000) } })).response.status, 500);
  const context = {} as Parameters<ReturnType<typeof compileTemplate>['render']>[0];
  assert.throws(() => compileTemplate("$(1 < 'a')").render(context), TemplateFailure);
  assert.equal(compileTemplate('$(shared.__proto__)').constant, null);
});

test('members that objects inherit are not there', async () => {
  assert.deepEqual(
    await render(['$(shared.constructor)$(shared.nested.__proto__)$(claims.toString)$(claims.roles.length)']),
    [''],
  );
});
