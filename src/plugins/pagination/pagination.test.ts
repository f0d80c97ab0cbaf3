import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealer } from '../../plugin-kit/auth/index.ts';
import { type TestBackend, type TestOutcome, testPlugin } from '../../plugin-testing/index.ts';
import { withoutPagingLinks } from './foreign-links.ts';
import plugin from './index.ts';

type Config = Readonly<Record<string, unknown>>;

const json = { 'Content-Type': 'application/json' };

function items(count: number, first = 0): readonly { readonly id: number; readonly createdAt: string }[] {
  return Array.from({ length: count }, (_, at) => ({ id: first + at, createdAt: `t${1000 - first - at}` }));
}

function answered(value: unknown, headers: TestBackend['headers'] = {}): TestBackend {
  return { headers: { ...json, ...headers }, body: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** One instance for each configuration, because cursors belong to an instance. */
function asking(config: Config): (path: string, backend?: TestBackend) => Promise<TestOutcome> {
  const { request } = testPlugin(plugin, { config: { clients: ['page', 'offset', 'cursor'], ...config } });
  return (path, backend = answered({ data: items(20) })) => request({ path, backend });
}

function links({ response }: TestOutcome): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [, target = '', rel = ''] of (response.header('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)) {
    found[rel] = target;
  }
  return found;
}

test('converts pages to offsets, and offsets to pages', async () => {
  const offset = asking({ backend: { style: 'offset', offset_name: 'skip', limit_name: 'count' } });
  assert.equal((await offset('/?page=3&limit=10&q=a%20b')).upstream?.query, 'q=a%20b&count=10&skip=20');
  assert.equal((await offset('/')).upstream?.query, 'count=20&skip=0');
  const page = asking({ backend: { style: 'page', page_name: 'p', first_page: 0, max_limit: 100 } });
  assert.equal((await page('/?offset=20&limit=10')).upstream?.query, 'limit=10&p=2');
  assert.equal((await page('/?page=3&limit=10')).upstream?.query, 'limit=10&p=2');
});

test('cuts a window from a larger page, or refuses it', async () => {
  const page = asking({ backend: { style: 'page', max_limit: 100 } });
  const outcome = await page('/?offset=5&limit=10', answered({ data: items(15) }));
  assert.equal(outcome.upstream?.query, 'limit=15&page=1');
  assert.deepEqual(
    JSON.parse(outcome.response.body).data.map(({ id }: { id: number }) => id),
    [5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
  );
  assert.equal((await page('/?offset=95&limit=97')).response.status, 400);
});

test('answers 400 to invalid paging arguments', async () => {
  const ask = asking({ backend: { style: 'offset' }, max_limit: 50 });
  const bad = [
    'page=0',
    'page=x',
    'page=',
    'page=1.5',
    'page=-1',
    'page=99999999999',
    'limit=0',
    'limit=51',
    'limit=1e1',
    'limit=5&limit=5',
    'page=1&page=2',
    'page=1&offset=0',
    'offset=-1',
    'cursor=',
    'cursor=abc',
    `cursor=${'a'.repeat(20_000)}`,
    '%70age=0',
  ];
  for (const query of bad) {
    const { upstream, response } = await ask(`/?${query}`);
    assert.equal(upstream, null, query);
    assert.equal(response.status, 400, query);
  }
  const clamped = asking({ backend: { style: 'offset' }, max_limit: 50, above_max: 'clamp' });
  assert.equal((await clamped('/?limit=1000')).upstream?.query, 'limit=50&offset=0');
});

test('refuses paging arguments of the backend', async () => {
  const ask = asking({ backend: { style: 'offset', offset_name: 'skip', limit_name: 'top' } });
  assert.equal((await ask('/?top=1000000&s%6Bip=7&x=1')).upstream?.query, 'x=1&top=20&skip=0');
});

test('links next, first, prev and last, with the other arguments', async () => {
  const ask = asking({ backend: { style: 'offset', total: 'meta.total' } });
  const backend = answered({ data: items(10), meta: { total: 45 } });
  assert.deepEqual(links(await ask('/users?limit=10&page=2&q=a', backend)), {
    next: '/users?q=a&limit=10&page=3',
    first: '/users?q=a&limit=10&page=1',
    prev: '/users?q=a&limit=10&page=1',
    last: '/users?q=a&limit=10&page=5',
  });
  assert.deepEqual(links(await ask('/users?limit=10&offset=35', backend)), {
    first: '/users?limit=10&offset=0',
    prev: '/users?limit=10&offset=25',
    last: '/users?limit=10&offset=35',
  });
  assert.equal(links(await ask('/users?limit=10&offset=5', backend))['prev'], '/users?limit=5&offset=0');
  const none = await asking({ backend: { style: 'offset' }, links: false })('/users');
  assert.equal(none.response.header('link'), null);
});

test('keeps links as local paths, whatever the request contains', async () => {
  const ask = asking({ backend: { style: 'offset' } });
  const { next } = links(await ask("//evil.example/x?a=b'>;c"));
  assert.equal(next, "/evil.example/x?a=b'%3E;c&limit=20&page=2");
});

test('removes paging links of the backend, and keeps other links', () => {
  const links = ['<https://x/y?cursor=1>; rel="next", </style.css>; rel=preload; as="a, b"', '</?p=1>; rel=prev'];
  assert.deepEqual(withoutPagingLinks(links), ['</style.css>; rel=preload; as="a, b"']);
});

test('accepts a cursor only for its list and its client', async () => {
  const ask = asking({ backend: { style: 'offset' }, secret: 'a secret of this test' });
  const first = await ask('/users?sort=name&q=1&limit=20');
  const { nextCursor } = JSON.parse(first.response.body);
  assert.equal(
    (await ask(`/users?q=1&sort=name&cursor=${nextCursor}`)).upstream?.query,
    'q=1&sort=name&limit=20&offset=20',
  );
  assert.equal(
    (await ask(`/users?q=1&sort=name&limit=5&cursor=${nextCursor}`)).upstream?.query,
    'q=1&sort=name&limit=5&offset=20',
  );
  for (const path of ['/users?q=2&sort=name&', '/users?', '/orders?sort=name&q=1&', '/users?sort=name&q=1&x&']) {
    const { response } = await ask(`${path}cursor=${nextCursor}`);
    assert.equal(response.status, 400, path);
    assert.match(response.body, /of another list/);
  }
  const forged = sealer('a secret of this test', 'pagination').seal('["x",0]', 9e9);
  for (const cursor of [forged, `${nextCursor}A`, nextCursor.slice(1), nextCursor.toUpperCase()]) {
    assert.equal((await ask(`/users?sort=name&q=1&cursor=${cursor}`)).response.status, 400);
  }
  const other = asking({ backend: { style: 'offset' }, secret: 'another secret of it' });
  assert.equal((await other(`/users?sort=name&q=1&cursor=${nextCursor}`)).response.status, 400);
});

test('refuses an expired cursor, and removes validators that would let clients keep one', async (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
  const ask = asking({ backend: { style: 'offset' }, cursor_ttl: 60 });
  const { response } = await ask('/', answered({ data: items(20) }, { ETag: '"1"', 'Last-Modified': 'x' }));
  assert.deepEqual([response.header('etag'), response.header('last-modified')], [null, null]);
  const { nextCursor } = JSON.parse(response.body);
  context.mock.timers.tick(59_000);
  assert.equal((await ask(`/?cursor=${nextCursor}`)).response.status, 200);
  context.mock.timers.tick(2_000);
  assert.equal((await ask(`/?cursor=${nextCursor}`)).response.status, 400);
});

test("hides the backend's cursor, and sends it back unchanged", async () => {
  const ask = asking({
    clients: ['cursor'],
    backend: { style: 'cursor', cursor_name: 'after', next_cursor: 'paging.next' },
  });
  const secret = 'raw cursor/+=&';
  const { response } = await ask('/', answered({ data: items(3), paging: { next: secret, size: 3 } }));
  assert.ok(!response.body.includes('raw cursor'));
  const { nextCursor, paging } = JSON.parse(response.body);
  assert.deepEqual(paging, { size: 3 });
  const next = await ask(`/?cursor=${nextCursor}`, answered({ data: items(1), paging: { next: null } }));
  assert.equal(next.upstream?.query, `limit=20&after=${encodeURIComponent(secret)}`);
  assert.equal(JSON.parse(next.response.body).nextCursor, null);
  assert.equal(links(next)['next'], undefined);
  const stuck = await ask(`/?cursor=${nextCursor}`, answered({ data: items(1), paging: { next: secret } }));
  assert.equal(JSON.parse(stuck.response.body).nextCursor, null);
});

test('answers in the configured form', async () => {
  const client = { items: 'users', total: 'count', next_cursor: 'page.next' };
  const ask = asking({
    clients: ['page', 'cursor'],
    client,
    backend: { style: 'offset', items: 'result.list', total: 'result.total' },
  });
  const { response } = await ask('/?limit=2', answered({ result: { list: [1, 2], total: 9, took: 3 }, ok: true }));
  const shown = JSON.parse(response.body);
  assert.equal(typeof shown.page.next, 'string');
  assert.deepEqual({ ...shown, page: null }, { result: { took: 3 }, ok: true, users: [1, 2], count: 9, page: null });
  const list = asking({ clients: ['cursor'], client: { items: '$' }, backend: { style: 'offset' } });
  assert.deepEqual(JSON.parse((await list('/', answered({ data: [1, 2] }))).response.body), [1, 2]);
  const wrapped = asking({ clients: ['page'], client: { items: 'data' }, backend: { style: 'offset', items: '$' } });
  assert.deepEqual(JSON.parse((await wrapped('/', answered([1, 2]))).response.body), { data: [1, 2] });
});

test('keeps the digits of numbers, and members with names that are special in JavaScript', async () => {
  const text = '{"data":[{"id":12345678901234567890,"__proto__":{"x":1.5}}],"__proto__":1e400}';
  const { response } = await asking({ clients: ['page'], backend: { style: 'offset' } })('/', answered(text));
  assert.equal(response.body, text);
});

test('answers 502 with the place when an answer does not match, and shows none of its content', async () => {
  const offset = asking({ backend: { style: 'offset' } });
  const page = asking({ backend: { style: 'page', total: 'total' } });
  const cursor = asking({ clients: ['cursor'], backend: { style: 'cursor' } });
  const before = asking({ clients: ['before'], backend: { style: 'before' } });
  const cases: readonly (readonly [ReturnType<typeof asking>, unknown, RegExp])[] = [
    [offset, '{"data": [secret', /line 1, column 11/],
    [offset, '', /ends too early/],
    [offset, '['.repeat(100_000), /nested deeper/],
    [page, { data: items(21) }, /21 items, and 20 were requested/],
    [page, { data: items(19), total: 100 }, /19 items, though 20/],
    [cursor, { data: items(1), nextCursor: { secret: 1 } }, /no cursor/],
    [cursor, { data: items(1), nextCursor: 'secret'.repeat(1000) }, /no cursor/],
    [before, { data: Array.from({ length: 20 }, () => ({ secret: 1 })) }, /no key at 'createdAt'/],
  ];
  for (const [ask, value, message] of cases) {
    const { response } = await ask('/', answered(value));
    assert.equal(response.status, 502, String(message));
    assert.match(response.body, message);
    assert.ok(!response.body.includes('secret'));
  }
  for (const value of ['{"data": {"secret": 1}}', '"secret"']) {
    const { response } = await offset('/?limit=5', answered(value));
    assert.equal(response.status, 502);
    assert.match(response.body, /no list at 'data'/);
    assert.ok(!response.body.includes('secret'));
  }
});

test('forwards a single item unchanged when the request has no paging arguments', async () => {
  for (const style of ['offset', 'page', 'cursor', 'before']) {
    const clients = style === 'before' ? ['before'] : ['cursor'];
    const { response } = await asking({ clients, backend: { style } })('/users/1', answered('{"id":1, "name":"Ada"}'));
    assert.deepEqual([response.status, response.body], [200, '{"id":1, "name":"Ada"}']);
    assert.equal(response.header('link'), null);
  }
});

test('pages a top-level array without a configured path', async () => {
  const ask = asking({ clients: ['offset'], backend: { style: 'offset' } });
  const { response } = await ask('/?limit=2', answered([1, 2]));
  assert.deepEqual([response.status, response.body], [200, '[1,2]']);
  assert.match(response.header('link') ?? '', /offset=2/);
  const wrapped = asking({ clients: ['offset'], backend: { style: 'offset' }, client: { items: 'list' } });
  assert.deepEqual(JSON.parse((await wrapped('/?limit=2', answered([1, 2]))).response.body).list, [1, 2]);
});

test('counts bad answers on the way to a page, and logs them throttled', async () => {
  const test = testPlugin(plugin, {
    config: { clients: ['page', 'cursor'], approximate: ['page'], backend: { style: 'cursor' } },
    calls: () => ({
      status: 200,
      header: () => null,
      headerValues: () => [],
      headers: () => ({}),
      block: () => '',
      body: Buffer.from('{"data": [secret'),
    }),
  });
  for (let n = 0; n < 2; n++) assert.equal((await test.request({ path: '/?page=2' })).response.status, 502);
  assert.equal(test.counts.get('pagination.bad_answers'), 2);
  assert.equal(test.logLines.length, 1);
  assert.match(test.logLines[0]?.message ?? '', /line 1, column 11/);
});

test('refuses a weak secret', async () => {
  const checked = await testPlugin(plugin).check({ backend: { style: 'offset' }, secret: 'x' });
  assert.match(checked.ok ? 'accepted' : checked.message, /secret: length must be at least 16/);
});

test('answers 502 to unknown content codings, and accepts identity', async () => {
  const ask = asking({ backend: { style: 'offset' } });
  assert.equal((await ask('/', answered({ data: [] }, { 'Content-Encoding': 'snappy' }))).response.status, 502);
  assert.equal((await ask('/', answered({ data: [] }, { 'Content-Encoding': 'identity' }))).response.status, 200);
});

test('forwards answers unchanged that are not JSON lists', async () => {
  const ask = asking({ backend: { style: 'offset' } });
  const html = await ask('/', { headers: { 'Content-Type': 'text/html' }, body: '<p>' });
  assert.deepEqual([html.response.body, html.response.header('link')], ['<p>', null]);
  const error = await ask('/', { status: 404, headers: json, body: '{"message":"no"}' });
  assert.deepEqual([error.response.status, error.response.body], [404, '{"message":"no"}']);
  const { request } = testPlugin(plugin, { config: { backend: { style: 'offset' } } });
  const post = await request({
    method: 'POST',
    path: '/?cursor=x&limit=9999',
    body: '{}',
    backend: answered('{"a":1}'),
  });
  assert.deepEqual([post.upstream?.query, post.response.body], [null, '{"a":1}']);
});

test('refuses a mapping that cannot be exact, unless configured', async () => {
  const { check } = testPlugin(plugin);
  const ok = async (style: string, clients: readonly string[], more: Config = {}): Promise<boolean> =>
    (await check({ backend: { style }, clients, ...more })).ok;
  assert.ok(await ok('page', ['page', 'offset', 'cursor']));
  assert.ok(await ok('offset', ['page', 'offset', 'cursor']));
  assert.ok(await ok('before', ['before', 'cursor']));
  for (const style of ['page', 'offset', 'cursor'])
    assert.ok(!(await ok(style, ['before'], { approximate: ['before'] })));
  for (const style of ['cursor', 'before']) {
    for (const client of ['page', 'offset']) {
      assert.ok(!(await ok(style, [client])));
      assert.ok(await ok(style, [client], { approximate: [client] }));
    }
  }
  assert.ok(!(await ok('offset', ['page', 'page'])));
  assert.ok(!(await ok('offset', ['page', 'offset'], { client: { page_name: 'x', offset_name: 'x' } })));
  assert.ok(!(await ok('offset', ['page'], { default_limit: 200 })));
  assert.ok(!(await ok('offset', ['page'], { backend: { style: 'offset', max_limit: 50 } })));
  assert.ok(!(await ok('offset', ['page'], { backend: { style: 'offset', items: 'a[*].b' } })));
  assert.ok(!(await ok('offset', ['page'], { backend: { style: 'offset', items: 'a..b' } })));
  assert.ok(!(await ok('cursor', ['cursor'], { backend: { style: 'cursor', items: '$' } })));
});
