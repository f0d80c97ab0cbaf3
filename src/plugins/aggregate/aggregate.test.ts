import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BackendAnswer, type BackendCall, CallFailed } from '../../plugin-sdk/index.ts';
import { type TestOutcome, type TestRequest, testPlugin } from '../../plugin-sdk/testing.ts';
import aggregate from './index.ts';

type Config = Readonly<Record<string, unknown>>;
type Backend = (call: BackendCall) => BackendAnswer | Promise<BackendAnswer>;

/** A backend's answer; a value becomes JSON. */
function answered(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): BackendAnswer {
  const all: Record<string, readonly string[]> = { 'content-type': ['application/json'] };
  for (const [name, text] of Object.entries(headers)) all[name] = [text];
  return {
    status,
    header: (name) => all[name.toLowerCase()]?.[0] ?? null,
    headerValues: (name) => all[name.toLowerCase()] ?? [],
    headers: () => all,
    block: () => '',
    body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
  };
}

/** Answers by the path of the call. */
function byPath(answers: Readonly<Record<string, unknown>>, calls: BackendCall[] = []): Backend {
  return (call) => {
    calls.push(call);
    const found = answers[call.path ?? ''];
    if (found === undefined) return answered({ message: 'secret of the backend' }, 404);
    if (found instanceof Error) throw found;
    return typeof found === 'function' ? found(call) : answered(found);
  };
}

interface Ran extends TestOutcome {
  readonly json: Record<string, unknown>;
  readonly calls: readonly BackendCall[];
}

async function run(
  config: Config,
  answers: Readonly<Record<string, unknown>>,
  request: TestRequest = {},
): Promise<Ran> {
  const calls: BackendCall[] = [];
  const outcome = await testPlugin(aggregate, { config, calls: byPath(answers, calls) }).request(request);
  return { ...outcome, json: JSON.parse(outcome.response.body || '{}') as Record<string, unknown>, calls };
}

const user = { name: 'user', path: '/users/42' };

describe('aggregate: the document', () => {
  test('has each part under its name, and says that it is complete', async () => {
    const config = { requests: [user, { name: 'orders', path: '/orders' }] };
    const { response, json } = await run(config, { '/users/42': { id: 42 }, '/orders': [1, 2] });
    assert.equal(response.status, 200);
    assert.deepEqual(json, { user: { id: 42 }, orders: [1, 2] });
    assert.deepEqual(response.headers['x-aggregate-complete'], ['true']);
    assert.deepEqual(response.headers['content-type'], ['application/json; charset=utf-8']);
  });

  test('puts parts where they are wanted, one within another whatever their order', async () => {
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

  test('keeps the digits of large numbers, and odd names', async () => {
    const text = '{"id":12345678901234567890,"__proto__":{"a":1},"ratio":0.1000000000000000055}';
    const { response } = await run({ requests: [user] }, { '/users/42': () => answered(text) });
    assert.equal(response.body, `{"user":${text}}`);
  });

  test('picks, leaves out and renames, through lists', async () => {
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

  test('leaves out what is hidden', async () => {
    const config = {
      requests: [
        { ...user, hidden: true },
        { name: 'b', path: '/b/{user.body.id}' },
      ],
    };
    assert.deepEqual((await run(config, { '/users/42': { id: 7 }, '/b/7': 'true' })).json, { b: true });
  });

  test('takes an empty answer and 204 for null', async () => {
    assert.deepEqual((await run({ requests: [user] }, { '/users/42': () => answered('', 204) })).json, { user: null });
  });
});

describe('aggregate: calls', () => {
  test('fill in what the request has', async () => {
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

  test('begin when what they refer to is there, the others at once', async () => {
    const order: string[] = [];
    const slow = (value: unknown) => async (call: BackendCall) => {
      order.push(`> ${call.path}`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`< ${call.path}`);
      return answered(value);
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
      return answered({ id: 5 }, 200, { 'x-id': 'x y' });
    };
    const { response } = await run(config, { '/a': first, '/b/5': slow(6), '/c/6/x%20y/200': slow(7), '/d': slow(8) });
    assert.equal(response.body, '{"c":7,"b":6,"a":{"id":5},"d":8}');
    assert.deepEqual(order.slice(0, 2), ['> /a', '> /d']);
    const chain = order.filter((line) => !line.endsWith('/d')).slice(1);
    assert.deepEqual(chain, ['< /a', '> /b/5', '< /b/5', '> /c/6/x%20y/200', '< /c/6/x%20y/200']);
  });

  test('are made only when their condition holds', async () => {
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

  test('read forms of the client, and refuse other bodies with where they break', async () => {
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

describe('aggregate: values of others in calls', () => {
  const paths = { requests: [{ name: 'a', url: 'http://a.test/base', path: '/x/{query.v}/y' }] };
  const encoded: readonly [string, string][] = [
    ['a%3Fadmin=1', '/x/a%3Fadmin%3D1/y'],
    ['a%23b', '/x/a%23b/y'],
    ['a;b=c', '/x/a%3Bb%3Dc/y'],
    ['%252e%252e', '/x/%252e%252e/y'],
    ['http://evil.test', '/x/http%3A%2F%2Fevil.test/y'],
    ['@evil.test', '/x/%40evil.test/y'],
    ['caf%C3%A9', '/x/caf%C3%A9/y'],
    ['{query.z}', '/x/%7Bquery.z%7D/y'],
  ];
  for (const [sent, path] of encoded) {
    test(`the value ${sent} stays within its segment`, async () => {
      const { calls } = await run(paths, { [path]: 1 }, { path: `/?v=${sent}` });
      assert.deepEqual([calls[0]?.path, calls[0]?.to], [path, { url: 'http://a.test/base' }]);
      assert.equal(calls[0]?.query, '');
    });
  }

  for (const sent of [
    '..',
    '.',
    '%2e%2e',
    '../admin',
    '..%2fadmin',
    '..%5Cadmin',
    'a/../b',
    '..;x',
    '',
    'a%0D%0AX:1',
    '%00',
  ]) {
    test(`the value ${sent} is refused, and nothing is asked`, async () => {
      const { calls, response, json } = await run(paths, {}, { path: `/?v=${sent}` });
      assert.deepEqual([calls.length, response.status, json['part']], [0, 400, 'a']);
    });
  }

  test('a dot segment made of a value and the text beside it is refused', async () => {
    const { response } = await run({ requests: [{ name: 'a', path: '/x/.{query.v}' }] }, {}, { path: '/?v=.' });
    assert.equal(response.status, 400);
  });

  test('what an answer says is no more trusted', async () => {
    const config = {
      requests: [
        { name: 'a', path: '/a' },
        { name: 'b', path: '/b/{a.body}' },
      ],
    };
    const { response, json } = await run(config, { '/a': () => answered('"../admin"') });
    assert.deepEqual([response.status, json['part'], json['reason']], [502, 'b', 'unsafe-value']);
  });

  test('cannot end a header line', async () => {
    const config = { requests: [{ name: 'a', path: '/a', headers: { 'X-V': '{query.v}' } }] };
    const { calls } = await run(config, { '/a': 1 }, { path: '/?v=a%0D%0AEvil:%201' });
    assert.equal(new Map(calls[0]?.headers).get('X-V'), 'a Evil: 1');
  });

  test('cannot leave their place in forms and XML', async () => {
    const sent = async (body: string, type: string) => {
      const part = { name: 'a', path: '/a', method: 'POST', body, body_type: type };
      const { calls } = await run({ requests: [part] }, { '/a': 1 }, { path: '/?v=%3C/a%3E%26b%3D%22%201' });
      return Buffer.from(calls[0]?.body ?? []).toString();
    };
    assert.equal(await sent('x={query.v}&y=1', 'form'), 'x=%3C%2Fa%3E%26b%3D%22+1&y=1');
    assert.equal(await sent('<a b="{query.v}"/>', 'xml'), '<a b="&#60;/a&#62;&#38;b=&#34; 1"/>');
  });

  test('names the value that is missing', async () => {
    const { response, json } = await run({ requests: [{ name: 'a', path: '/a/{consumer.custom_id}' }] }, {});
    assert.equal(response.status, 400);
    assert.equal(json['message'], "The part 'a' of the answer failed: there is no value for {consumer.custom_id}");
  });
});

describe('aggregate: failures', () => {
  const timeout = new CallFailed('timeout', 504, 'secret address');
  const failures: readonly [what: string, answer: unknown, status: number, reason: string][] = [
    ['is too late', timeout, 504, 'timeout'],
    ['cannot be reached', new CallFailed('unreachable', 502, 'secret address'), 502, 'unreachable'],
    ['is too large', new CallFailed('too-large', 502, 'secret'), 502, 'too-large'],
    ['has no service', new CallFailed('no-service', 503, 'secret'), 503, 'misconfigured'],
    ['answers a part', () => answered('{}', 206), 502, 'status'],
    ['has no address', new CallFailed('no-target', 503, 'secret'), 503, 'no-target'],
    ['answers 500', () => answered('secret', 500), 502, 'status'],
    ['answers 404', () => answered('secret', 404), 502, 'status'],
    ['answers 302', () => answered('secret', 302), 502, 'status'],
    ['answers 504', () => answered('secret', 504), 504, 'status'],
    ['sends broken JSON', () => answered('{"secret": }'), 502, 'malformed'],
    ['nests too deep', () => answered('['.repeat(100_000)), 502, 'malformed'],
    ['sends HTML', () => answered('<p>secret', 200, { 'content-type': 'text/html' }), 502, 'media-type'],
    ['has a strange coding', () => answered('secret', 200, { 'content-encoding': 'x' }), 502, 'media-type'],
  ];
  for (const [what, answer, status, reason] of failures) {
    test(`a required part that ${what} gives ${status}`, async () => {
      const { response, json } = await run(
        { requests: [user, { name: 'b', path: '/b' }] },
        { '/users/42': answer, '/b': 1 },
      );
      assert.equal(response.status, status);
      assert.deepEqual([json['part'], json['reason']], ['user', reason]);
      assert.deepEqual(response.headers['cache-control'], ['no-store']);
      assert.doesNotMatch(response.body, /secret/);
    });

    test(`an optional part that ${what} is null, and an error`, async () => {
      const config = {
        requests: [
          { ...user, required: false },
          { name: 'b', path: '/b' },
        ],
        cache_control: 'merge',
      };
      const { response, json } = await run(config, { '/users/42': answer, '/b': 1 });
      assert.equal(response.status, 200);
      const [error] = json['errors'] as Record<string, unknown>[];
      assert.deepEqual([json['user'], json['b'], error?.['part'], error?.['reason']], [null, 1, 'user', reason]);
      assert.deepEqual(response.headers['x-aggregate-complete'], ['false']);
      assert.deepEqual(response.headers['cache-control'], ['no-store']);
      assert.doesNotMatch(response.body, /secret/);
    });
  }

  test('statuses can be passed on, or mean that there is nothing', async () => {
    const gone = { '/users/42': () => answered('secret', 404) };
    const passed = await run({ requests: [{ ...user, pass_status: [404] }] }, gone);
    assert.deepEqual([passed.response.status, passed.json['part']], [404, 'user']);
    const absent = await run(
      {
        requests: [
          { ...user, null_on_status: [404] },
          { name: 'b', path: '/{user.body.id}' },
        ],
      },
      gone,
    );
    assert.deepEqual([absent.response.status, absent.json], [200, { user: null, b: null }]);
    assert.deepEqual(absent.response.headers['x-aggregate-complete'], ['true']);
  });

  test('what depends on a failed part fails, too', async () => {
    const config = {
      requests: [
        { ...user, required: false },
        { name: 'b', path: '/{user.body.id}', required: false },
      ],
      errors_field: 'problems',
    };
    const { json } = await run(config, { '/users/42': timeout });
    const reasons = (json['problems'] as { part: string; reason: string }[]).map(({ part, reason }) => [part, reason]);
    assert.deepEqual(reasons, [
      ['user', 'timeout'],
      ['b', 'dependency'],
    ]);
  });

  test('what cannot be put into the document is no silent loss', async () => {
    const { response, json } = await run({ requests: [{ ...user, target: '.' }] }, { '/users/42': [1] });
    assert.deepEqual([response.status, json['reason']], [502, 'no-place']);
  });

  test('a part that failed leaves room for what lies within it', async () => {
    const config = {
      requests: [
        { ...user, required: false },
        { name: 'o', path: '/o', target: 'user.orders' },
      ],
    };
    assert.deepEqual((await run(config, { '/users/42': timeout, '/o': [1] })).json['user'], { orders: [1] });
  });

  test('the answers together have a cap', async () => {
    const config = {
      requests: [
        { ...user, required: false },
        { name: 'b', path: '/b', required: false },
      ],
      max_body_size: 10,
    };
    const { response, json } = await run(config, { '/users/42': 123_456_789, '/b': 12 });
    assert.deepEqual([response.status, json['reason']], [502, 'too-large']);
  });
});

describe('aggregate: each', () => {
  const list = { name: 'list', path: '/list' };
  const one = { name: 'all', path: '/one/{item.id}', each: '{list.body.data}', query: { at: '{index}' } };

  test('asks for every element, a few at a time, and keeps the order', async () => {
    let under = 0;
    let most = 0;
    const answer = async (call: BackendCall) => {
      most = Math.max(most, ++under);
      for (let turn = 0; turn < (call.path === '/one/0' ? 9 : 2); turn++) await new Promise((r) => setImmediate(r));
      under--;
      return answered({ got: call.path, at: call.query });
    };
    const ids = [0, 1, 2, 3, 4, 5];
    const answers = Object.fromEntries(ids.map((id) => [`/one/${id}`, answer]));
    const config = { requests: [list, { ...one, each_concurrency: 2 }] };
    const { json } = await run(config, { ...answers, '/list': { data: ids.map((id) => ({ id })) } });
    assert.deepEqual(
      json['all'],
      ids.map((id) => ({ got: `/one/${id}`, at: `at=${id}` })),
    );
    assert.equal(most, 2);
  });

  test('puts answers into the elements', async () => {
    const config = {
      requests: [
        { ...list, hidden: true },
        { ...one, each_into: 'detail', pick: ['a'] },
      ],
    };
    const { json } = await run(config, { '/list': { data: [{ id: 1 }] }, '/one/1': { a: 1, b: 2 } });
    assert.deepEqual(json, { all: [{ id: 1, detail: { a: 1 } }] });
  });

  test('an element of an optional one that fails is null, with its place in the errors', async () => {
    const config = { requests: [list, { ...one, required: false }] };
    const { json, response } = await run(config, { '/list': { data: [{ id: 1 }, { id: 2 }, {}] }, '/one/2': 2 });
    assert.deepEqual(json['all'], [null, 2, null]);
    const errors = json['errors'] as { part: string; index: number; reason: string }[];
    assert.deepEqual(
      errors.map(({ index, reason }) => [index, reason]),
      [
        [0, 'status'],
        [2, 'missing-value'],
      ],
    );
    assert.deepEqual(response.headers['x-aggregate-complete'], ['false']);
  });

  test('is bounded', async () => {
    const ids = Array.from({ length: 30 }, (_, id) => ({ id }));
    const tooLong = await run({ requests: [list, one] }, { '/list': { data: ids } });
    assert.deepEqual([tooLong.response.status, tooLong.json['reason'], tooLong.calls.length], [502, 'too-many', 1]);
    const answers = Object.fromEntries(ids.map(({ id }) => [`/one/${id}`, id]));
    const config = { requests: [list, { ...one, each_max: 40, required: false }], max_calls: 10 };
    const tooMany = await run(config, { ...answers, '/list': { data: ids } });
    assert.deepEqual([tooMany.response.status, tooMany.json['reason'], tooMany.calls.length], [502, 'too-many', 10]);
    const none = await run({ requests: [list, one] }, { '/list': { data: 'x' } });
    assert.deepEqual([none.response.status, none.json['reason']], [502, 'not-a-list']);
    assert.deepEqual((await run({ requests: [list, one] }, { '/list': {} })).json['all'], null);
    assert.deepEqual((await run({ requests: [list, one] }, { '/list': { data: [] } })).json['all'], []);
  });
});

describe('aggregate: headers', () => {
  const parts = {
    requests: [
      { name: 'a', path: '/a' },
      { name: 'b', path: '/b', pass_headers: ['Accept-Language'] },
    ],
  };
  const with_ = (a: Record<string, string>, b: Record<string, string>) => ({
    '/a': () => answered(1, 200, a),
    '/b': () => answered(2, 200, b),
  });

  test('of parts go to the client when they are named', async () => {
    const named = [
      { part: 'b', names: ['X-One', 'Set-Cookie'] },
      { part: 'a', names: ['X-One', 'Set-Cookie', 'X-None'] },
    ];
    const answers = with_({ 'x-one': 'a', 'set-cookie': 'a=1', 'x-two': 'a' }, { 'x-one': 'b', 'set-cookie': 'b=1' });
    const { headers } = (await run({ ...parts, response_headers: named }, answers)).response;
    assert.deepEqual([headers['x-one'], headers['x-two'], headers['set-cookie']], [['b'], undefined, ['b=1', 'a=1']]);
  });

  const merged: readonly [a: string, b: string, expected: string][] = [
    ['max-age=60', 'max-age=10', 'max-age=10'],
    ['max-age=60, s-maxage=30', 'max-age=40', 'max-age=40, s-maxage=30'],
    ['max-age=60', 'private, max-age=100', 'private, max-age=60'],
    ['max-age=60', 'no-store', 'no-store'],
    ['max-age=60', '', 'no-cache'],
    ['max-age=60', 'max-age=x', 'max-age=0'],
  ];
  for (const [a, b, expected] of merged) {
    test(`${a} and ${b || 'nothing'} make ${expected}`, async () => {
      const answers = with_({ 'cache-control': a }, b === '' ? {} : { 'cache-control': b });
      const { headers } = (await run({ ...parts, cache_control: 'merge' }, answers)).response;
      assert.deepEqual(headers['cache-control'], [expected]);
    });
  }

  test('an answer varies by the headers that it is made of', async () => {
    const config = { requests: [{ name: 'a', path: '/a', query: { l: '{headers.X-Lang}' } }] };
    assert.deepEqual((await run(config, { '/a': 1 })).response.headers['vary'], ['x-lang']);
    assert.equal((await run(parts, with_({}, {}))).response.headers['vary'], undefined);
  });

  test('an answer varies as those parts do that see the header', async () => {
    const vary = { 'cache-control': 'max-age=9', vary: 'Accept-Language, Cookie', age: '4' };
    const { headers } = (await run({ ...parts, cache_control: 'merge' }, with_(vary, vary))).response;
    assert.deepEqual([headers['vary'], headers['cache-control']], [['accept-language'], ['max-age=5']]);
  });
});

test('a configuration that cannot work is refused, and the field is named', async () => {
  const plugin = testPlugin(aggregate, { config: { requests: [user] } });
  const bad: readonly [requests: readonly Config[] | null, field: RegExp][] = [
    [null, /requests/],
    [[], /requests/],
    [[{ name: 'query', path: '/' }], /name/],
    [[user, user], /another part is called 'user'/],
    [[{ name: 'a' }], /path/],
    [[{ name: 'a', path: '/{b.body.id}' }], /there is no part 'b'/],
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
});
