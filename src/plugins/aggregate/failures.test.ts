import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BackendCall, CallFailed } from '../../plugin-sdk/index.ts';
import { backendResponse, run, user } from './run/run.fixture.ts';

describe('aggregate: failures', () => {
  const timeout = new CallFailed('timeout', 504, 'secret address');
  const failures: readonly [what: string, answer: unknown, status: number, reason: string][] = [
    ['is too late', timeout, 504, 'timeout'],
    ['cannot be reached', new CallFailed('unreachable', 502, 'secret address'), 502, 'unreachable'],
    ['is too large', new CallFailed('too-large', 502, 'secret'), 502, 'too-large'],
    ['has no service', new CallFailed('no-service', 503, 'secret'), 503, 'misconfigured'],
    ['answers a part', () => backendResponse('{}', 206), 502, 'status'],
    ['has no address', new CallFailed('no-target', 503, 'secret'), 503, 'no-target'],
    ['answers 500', () => backendResponse('secret', 500), 502, 'status'],
    ['answers 404', () => backendResponse('secret', 404), 502, 'status'],
    ['answers 302', () => backendResponse('secret', 302), 502, 'status'],
    ['answers 504', () => backendResponse('secret', 504), 504, 'status'],
    ['sends broken JSON', () => backendResponse('{"secret": }'), 502, 'malformed'],
    ['nests too deep', () => backendResponse('['.repeat(100_000)), 502, 'malformed'],
    ['sends HTML', () => backendResponse('<p>secret', 200, { 'content-type': 'text/html' }), 502, 'media-type'],
    ['has a strange coding', () => backendResponse('secret', 200, { 'content-encoding': 'x' }), 502, 'media-type'],
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

  test('statuses can be passed on, or mean that the part is absent', async () => {
    const gone = { '/users/42': () => backendResponse('secret', 404) };
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

  test('a part that depends on a failed one fails, too', async () => {
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

  test('a part that has no place in the document is an error', async () => {
    const { response, json } = await run({ requests: [{ ...user, target: '.' }] }, { '/users/42': [1] });
    assert.deepEqual([response.status, json['reason']], [502, 'no-place']);
  });

  test('a failed part does not block the parts within it', async () => {
    const config = {
      requests: [
        { ...user, required: false },
        { name: 'o', path: '/o', target: 'user.orders' },
      ],
    };
    assert.deepEqual((await run(config, { '/users/42': timeout, '/o': [1] })).json['user'], { orders: [1] });
  });

  test('the total size of the responses is limited', async () => {
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

  test('makes a call for every element, a few at a time, and keeps the order', async () => {
    let under = 0;
    let most = 0;
    const answer = async (call: BackendCall) => {
      most = Math.max(most, ++under);
      for (let turn = 0; turn < (call.path === '/one/0' ? 9 : 2); turn++) await new Promise((r) => setImmediate(r));
      under--;
      return backendResponse({ got: call.path, at: call.query });
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

  test('adds the responses to the elements', async () => {
    const config = {
      requests: [
        { ...list, hidden: true },
        { ...one, each_into: 'detail', pick: ['a'] },
      ],
    };
    const { json } = await run(config, { '/list': { data: [{ id: 1 }] }, '/one/1': { a: 1, b: 2 } });
    assert.deepEqual(json, { all: [{ id: 1, detail: { a: 1 } }] });
  });

  test('a failed element of an optional part is null, with its index in the errors', async () => {
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

  test('has limits', async () => {
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
    '/a': () => backendResponse(1, 200, a),
    '/b': () => backendResponse(2, 200, b),
  });

  test('of parts are sent to the client if configured', async () => {
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

  test('the response varies by the headers that it depends on', async () => {
    const config = { requests: [{ name: 'a', path: '/a', query: { l: '{headers.X-Lang}' } }] };
    assert.deepEqual((await run(config, { '/a': 1 })).response.headers['vary'], ['x-lang']);
    assert.equal((await run(parts, with_({}, {}))).response.headers['vary'], undefined);
  });

  test('the response varies by passed headers that parts name in Vary', async () => {
    const vary = { 'cache-control': 'max-age=9', vary: 'Accept-Language, Cookie', age: '4' };
    const { headers } = (await run({ ...parts, cache_control: 'merge' }, with_(vary, vary))).response;
    assert.deepEqual([headers['vary'], headers['cache-control']], [['accept-language'], ['max-age=5']]);
  });
});
