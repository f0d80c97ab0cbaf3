import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BackendCall } from '../../plugin-sdk/index.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import aggregate from './index.ts';
import { backendResponse, type Config, run, user } from './run/run.fixture.ts';

describe('aggregate: the document', () => {
  test('has each part under its name, and is marked as complete', async () => {
    const config = { requests: [user, { name: 'orders', path: '/orders' }] };
    const { response, json } = await run(config, { '/users/42': { id: 42 }, '/orders': [1, 2] });
    assert.equal(response.status, 200);
    assert.deepEqual(json, { user: { id: 42 }, orders: [1, 2] });
    assert.deepEqual(response.headers['x-aggregate-complete'], ['true']);
    assert.deepEqual(response.headers['content-type'], ['application/json; charset=utf-8']);
  });

  test('places parts at their targets, within each other in any order', async () => {
    const config = {
      requests: [
        { name: 'orders', path: '/orders', target: 'user.orders' },
        { ...user, target: 'user' },
        { name: 'meta', path: '/meta', target: '.' },
      ],
    };
    const { json } = await run(config, { '/users/42': { id: 42 }, '/orders': [1], '/meta': { version: 3 } });
    assert.deepEqual(json, { version: 3, user: { id: 42, orders: [1] } });
  });

  test('preserves the digits of large numbers, and unusual names', async () => {
    const text = '{"id":12345678901234567890,"__proto__":{"a":1},"ratio":0.1000000000000000055}';
    const { response } = await run({ requests: [user] }, { '/users/42': () => backendResponse(text) });
    assert.equal(response.body, `{"user":${text}}`);
  });

  test('picks, omits and renames members, also in lists', async () => {
    const orders = { data: [{ id: 1, secret: 'a', by: { mail: 'x', name: 'y' } }], next: null };
    const part = { name: 'orders', path: '/o' };
    const shaped = async (shape: Config) =>
      (await run({ requests: [{ ...part, ...shape }] }, { '/o': orders })).json['orders'];
    assert.deepEqual(await shaped({ pick: ['data.id', 'data[*].by.name'] }), { data: [{ id: 1, by: { name: 'y' } }] });
    assert.deepEqual(await shaped({ unwrap: 'data', omit: ['secret', 'by.mail'] }), [{ id: 1, by: { name: 'y' } }]);
    assert.deepEqual(await shaped({ unwrap: 'data', collection: 'first', pick: ['id'], wrap: 'order' }), {
      order: { id: 1 },
    });
    assert.deepEqual(await shaped({ unwrap: 'data[0].by', collection: 'list', rename: { mail: 'email' } }), [
      { email: 'x', name: 'y' },
    ]);
    assert.equal(await shaped({ unwrap: 'nowhere' }), null);
  });

  test('omits hidden parts', async () => {
    const config = {
      requests: [
        { ...user, hidden: true },
        { name: 'b', path: '/b/{user.body.id}' },
      ],
    };
    assert.deepEqual((await run(config, { '/users/42': { id: 7 }, '/b/7': 'true' })).json, { b: true });
  });

  test('treats an empty response and 204 as null', async () => {
    assert.deepEqual((await run({ requests: [user] }, { '/users/42': () => backendResponse('', 204) })).json, {
      user: null,
    });
  });
});

describe('aggregate: calls', () => {
  test('contain values of the request', async () => {
    const part = {
      name: 'a',
      method: 'POST',
      service: 's',
      path: '/x/{captures.none}{query.id}',
      query: { q: '{query.text}', none: '{query.none}', 'odd name': 'a&b' },
      headers: { 'X-Agent': '<{headers.user-agent}>', 'X-None': '{headers.none}' },
      pass_headers: ['Authorization'],
      body: '{"name": "by {body.name}", "list": {body.list}, "none": {body.none}}',
      body_type: 'json',
    };
    const config = { requests: [{ ...part, path: '/x/{query.id}' }] };
    const { calls } = await run(
      config,
      { '/x/a%2Fb': 1 },
      {
        method: 'POST',
        path: '/?id=a/b&text=x%26y%3D%23',
        headers: { 'User-Agent': 'curl', 'Content-Type': 'application/json' },
        body: '{"name":"A \\"quoted\\"\\n","list":[1,{"a":12345678901234567890}]}',
      },
    );
    const [call] = calls;
    assert.equal(call?.query, 'q=x%26y%3D%23&odd%20name=a%26b');
    assert.equal(call.path, '/x/a%2Fb');
    assert.deepEqual(call.to, { service: 's' });
    assert.deepEqual([...(call.pass as Set<string>)], ['authorization']);
    const headers = new Map(call.headers);
    assert.equal(headers.get('X-Agent'), '<curl>');
    assert.equal(headers.has('X-None'), false);
    assert.equal(headers.get('Content-Type'), 'application/json');
    assert.equal(
      Buffer.from(call.body ?? []).toString(),
      '{"name": "by A \\"quoted\\"\\n", "list": [1,{"a":12345678901234567890}], "none": null}',
    );
  });

  test('start once the parts that they refer to have completed, the others at once', async () => {
    const order: string[] = [];
    const slow = (value: unknown) => async (call: BackendCall) => {
      order.push(`> ${call.path}`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`< ${call.path}`);
      return backendResponse(value);
    };
    const config = {
      requests: [
        { name: 'c', path: '/c/{b.body}/{a.headers.x-id}/{a.status}' },
        { name: 'b', path: '/b/{a.body.id}' },
        { name: 'a', path: '/a' },
        { name: 'd', path: '/d' },
      ],
    };
    const first = async (call: BackendCall) => {
      await slow({})(call);
      return backendResponse({ id: 5 }, 200, { 'x-id': 'x y' });
    };
    const { response } = await run(config, { '/a': first, '/b/5': slow(6), '/c/6/x%20y/200': slow(7), '/d': slow(8) });
    assert.equal(response.body, '{"c":7,"b":6,"a":{"id":5},"d":8}');
    assert.deepEqual(order.slice(0, 2), ['> /a', '> /d']);
    const chain = order.filter((line) => !line.endsWith('/d')).slice(1);
    assert.deepEqual(chain, ['< /a', '> /b/5', '< /b/5', '> /c/6/x%20y/200', '< /c/6/x%20y/200']);
  });

  test('are made only if their condition holds', async () => {
    const config = {
      requests: [
        { name: 'a', path: '/a', when: '{query.a}' },
        { name: 'b', path: '/b', when: '!{query.b}' },
        { name: 'c', path: '/c', when: '{query.kind}=x' },
        { name: 'd', path: '/d', when: '{query.kind}!=x' },
        { name: 'e', path: '/e/{a.body}' },
      ],
    };
    const answers = { '/a': 1, '/b': 2, '/c': 3, '/d': 4, '/e/1': 5 };
    assert.deepEqual((await run(config, answers)).json, { a: null, b: 2, c: null, d: 4, e: null });
    const { json } = await run(config, answers, { path: '/?a=1&b=yes&kind=x' });
    assert.deepEqual(json, { a: 1, b: null, c: 3, d: null, e: 5 });
  });

  test('use forms of the client, and refuse other bodies with the position of the error', async () => {
    const config = { requests: [{ name: 'a', path: '/a/{body.x}' }] };
    const send = (type: string, body: string) =>
      run(config, { '/a/1': 1 }, { method: 'POST', headers: { 'Content-Type': type }, body });
    assert.equal((await send('application/x-www-form-urlencoded', 'x=1')).response.status, 200);
    assert.equal((await send('text/csv', 'x')).response.status, 415);
    const broken = await send('application/json', '{"x": 1,\n  broken}');
    assert.equal(broken.response.status, 400);
    assert.match(broken.response.body, /line 2, column 3/);
    assert.doesNotMatch(broken.response.body, /broken/);
  });
});

test('an invalid configuration is refused with the name of the field', async () => {
  const plugin = testPlugin(aggregate, { config: { requests: [user] } });
  const bad: readonly [requests: readonly Config[] | null, field: RegExp][] = [
    [null, /requests/],
    [[], /requests/],
    [[{ name: 'query', path: '/' }], /name/],
    [[user, user], /another part is called 'user'/],
    [[{ name: 'a' }], /path/],
    [[{ name: 'a', path: '/{b.body.id}' }], /there is no part 'b'/],
    [[{ name: 'a', path: '/{id' }], /a brace has no counterpart/],
    [[{ name: 'a', path: '/{a.body.id}' }], /these parts wait for each other: 'a'/],
    [
      [
        { name: 'a', path: '/{b.body}' },
        { name: 'b', path: '/b', query: { x: '{a.body}' } },
        { name: 'c', path: '/{a.body}' },
      ],
      /query = "these parts wait for each other: 'a', 'b'"/,
    ],
    [
      [
        { name: 'a', path: '/{b.boddy.id}' },
        { name: 'b', path: '/' },
      ],
      /\.body, \.headers\.<name> or \.status/,
    ],
    [[{ name: 'a', path: '/a{' }], /path/],
    [[{ name: 'a', path: '/a?b=1' }], /path/],
    [[{ name: 'a', path: '/a/../b' }], /dot segments/],
    [[{ name: 'a', path: '/{item.id}' }], /no item without each/],
    [[{ name: 'a', path: '/', url: 'http://{query.host}/' }], /url/],
    [[{ name: 'a', path: '/', url: 'http://a@b/' }], /url/],
    [[{ name: 'a', path: '/', url: 'http://a/', service: 's' }], /only one or none/],
    [[{ name: 'a', path: '/', headers: { Host: '{query.host}' } }], /Host/],
    [[{ name: 'a', path: '/', headers: { 'Content-Length': '1' } }], /gateway's own/],
    [[{ name: 'a', path: '/', body: '{"a": {query.b}' }], /JSON/],
    [[{ name: 'a', path: '/', when: 'query.x' }], /when/],
    [[{ name: 'a', path: '/', pick: ['a[0]'] }], /pick/],
    [
      [
        { name: 'a', path: '/', target: 'x' },
        { name: 'b', path: '/', target: 'x' },
      ],
      /'a' lands there/,
    ],
    [[{ name: 'a', path: '/', pass_status: [500] }], /pass_status/],
  ];
  for (const [requests, message] of bad) {
    const result = await plugin.check(requests === null ? {} : { requests });
    assert.equal(result.ok, false, JSON.stringify(requests));
    if (!result.ok) assert.match(result.message, message, JSON.stringify(requests));
  }
  const unknown = await plugin.check({ requests: [user], response_headers: [{ part: 'x', names: ['A'] }] });
  assert.equal(unknown.ok, false);
  for (const name of ['Content-Length', 'ETag', 'Cache-Control', 'Expires']) {
    const own = await plugin.check({ requests: [user], response_headers: [{ part: 'user', names: [name] }] });
    assert.equal(own.ok, false, name);
  }
});
