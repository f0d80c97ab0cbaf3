import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestRequest } from '../../plugin-testing/index.ts';
import { MapStore } from './map-store.fixture.ts';
import { advance, backend, cache, freezeTime, status, statuses } from './proxy-cache.fixture.ts';

freezeTime();

describe('the configuration', () => {
  const check = (config: Readonly<Record<string, unknown>>) => cache().check({ strategy: 'memory', ...config });

  it('needs a strategy', async () => {
    assert.deepEqual(await cache().check({}), {
      ok: false,
      message: 'schema violation (config.strategy: required field missing)',
    });
  });

  it('has the defaults of Kong', async () => {
    const checked = await check({});
    assert.ok(checked.ok);
    const { response_code, request_method, content_type, cache_ttl, cache_control, memory } = checked.config;
    assert.deepEqual(
      [
        response_code,
        request_method,
        content_type,
        cache_ttl,
        cache_control,
        (memory as object)['dictionary_name' as never],
      ],
      [[200, 301, 404], ['GET', 'HEAD'], ['text/plain', 'application/json'], 300, false, 'kong_db_cache'],
    );
  });

  it('accepts times in seconds or with a unit', async () => {
    for (const [value, seconds] of [
      [20, 20],
      ['5m', 300],
      ['2h', 7200],
      ['1d', 86_400],
    ] as const) {
      const checked = await check({ cache_ttl: value });
      assert.equal(checked.ok && checked.config['cache_ttl'], seconds, String(value));
    }
    for (const bad of [0, -1, 'soon', '5 m', 1.5])
      assert.equal((await check({ cache_ttl: bad })).ok, false, String(bad));
  });

  it('rejects invalid values', async () => {
    for (const bad of [
      { strategy: 'disk' },
      { request_method: ['DELETE'] },
      { response_code: [] },
      { response_code: [20] },
      { memory: { size: '1' } },
      { memory: { size: '1m' }, max_body: '1m' },
      { strategy: 'redis' },
    ]) {
      assert.equal((await check(bad)).ok, false, JSON.stringify(bad));
    }
  });
});

describe('a response', () => {
  it('is a Miss, then a Hit with its age, then a Refresh', async () => {
    const test = cache({ config: { cache_ttl: 30, storage_ttl: 60 } });
    const first = await test.request({ backend: backend({ 'X-A': '1' }, 'one') });
    assert.deepEqual([status(first), first.response.header('age')], ['Miss', null]);
    advance(10);
    const hit = await test.request({ backend: backend({}, 'two') });
    assert.equal(hit.upstream, null);
    assert.deepEqual(
      [status(hit), hit.response.header('age'), hit.response.header('x-a'), hit.response.body],
      ['Hit', '10', '1', 'one'],
    );
    assert.equal(hit.response.header('x-cache-key'), first.response.header('x-cache-key'));
    assert.match(hit.response.header('x-cache-key') ?? '', /^[0-9a-f]{64}$/);
    advance(20);
    const refreshed = await test.request({ backend: backend({}, 'three') });
    assert.deepEqual([status(refreshed), refreshed.response.body], ['Refresh', 'three']);
    assert.deepEqual(await statuses(test, {}), ['Hit']);
  });

  it('that has no end is not cached, and requests do not wait for it', async () => {
    const events = { backend: backend({ 'Content-Type': 'text/event-stream' }) };
    assert.deepEqual(await statuses(cache({ config: { content_type: ['*/*'] } }), events, events), [
      'Bypass',
      'Bypass',
    ]);
  });

  it('is not cached if its status, its type or the request method is excluded', async () => {
    const test = cache();
    assert.deepEqual(await statuses(test, { method: 'POST' }, { method: 'POST' }), ['Bypass', 'Bypass']);
    const bad = { path: '/1', backend: backend({}, 'x', 500) };
    assert.deepEqual(await statuses(test, bad, bad), ['Bypass', 'Bypass']);
    const typed = { path: '/2', backend: backend({ 'Content-Type': 'application/json; charset=utf-8' }) };
    assert.deepEqual(await statuses(test, typed, typed), ['Bypass', 'Bypass']);
  });

  it('to a method that is not cached has no key', async () => {
    const { response } = await cache().request({ method: 'POST', backend: backend() });
    assert.equal(response.header('x-cache-key'), null);
  });

  it('has no headers of the cache if they are disabled', async () => {
    const shown = { age: false, 'X-Cache-Status': false, 'X-Cache-Key': false };
    const test = cache({ config: { response_headers: shown } });
    await test.request({ backend: backend() });
    const { response, upstream } = await test.request({ backend: backend() });
    assert.equal(upstream, null);
    assert.deepEqual(
      ['age', 'x-cache-status', 'x-cache-key'].map((name) => response.header(name)),
      [null, null, null],
    );
  });

  it('is removed after storage_ttl, fresh or not', async () => {
    const test = cache({ config: { cache_ttl: 30, storage_ttl: 10 } });
    await test.request({ backend: backend({ ETag: '"1"' }) });
    advance(11);
    assert.deepEqual(await statuses(test, {}), ['Miss']);
  });

  it('that is larger than max_body is streamed and not cached', async () => {
    const store = new MapStore();
    const test = cache({ store, config: { max_body: '1k' } });
    const large = backend({}, 'x'.repeat(1025));
    const { response } = await test.request({ backend: large });
    assert.equal(response.body.length, 1025);
    const again = await test.request({ backend: large });
    assert.notEqual(again.upstream, null);
    assert.ok([...store.entries.values()].every(({ body }) => body.byteLength === 0));
  });

  it('to a HEAD comes from a cached GET; the response to a HEAD is not cached', async () => {
    const test = cache();
    const head = { method: 'HEAD', backend: backend({}, '') };
    assert.deepEqual(await statuses(test, head, head), ['Miss', 'Miss']);
    await test.request({ backend: backend({}, 'four') });
    const { response, upstream } = await test.request({ method: 'HEAD' });
    assert.deepEqual([upstream, response.status, response.body], [null, 200, '']);
  });

  it('is cached in stores that answer asynchronously', async () => {
    const test = cache({ store: new MapStore({ slow: true }) });
    assert.deepEqual(await statuses(test, {}), ['Miss']);
    await new Promise(setImmediate);
    assert.deepEqual(await statuses(test, {}), ['Hit']);
  });

  it('comes from the backend while the store fails', async () => {
    const store = new MapStore();
    store.failure = new Error('gone');
    const test = cache({ store });
    const { response, upstream } = await test.request({ backend: backend() });
    assert.notEqual(upstream, null);
    assert.deepEqual([response.status, response.body, response.header('x-cache-status')], [200, 'body', 'Bypass']);
    assert.equal(test.counts.get('proxy-cache.store_failures'), 1);
  });
});

describe('the key', () => {
  it('contains the sorted query, or the configured arguments', async () => {
    assert.deepEqual(await statuses(cache(), { path: '/?a=1&b=2' }, { path: '/?b=2&a=1' }, { path: '/?a=2' }), [
      'Miss',
      'Hit',
      'Miss',
    ]);
    const some = cache({ config: { vary_query_params: ['a'] } });
    assert.deepEqual(await statuses(some, { path: '/?a=1&b=2' }, { path: '/?a=1&b=3' }, { path: '/?a=2' }), [
      'Miss',
      'Hit',
      'Miss',
    ]);
  });

  it('contains the configured headers', async () => {
    const test = cache({ config: { vary_headers: ['X-Kind'] } });
    const kind = (value: string): TestRequest => ({ headers: { 'x-kind': value } });
    assert.deepEqual(await statuses(test, kind('a'), kind('b'), kind('b'), kind('a'), kind('a'), {}), [
      'Miss',
      'Miss',
      'Hit',
      'Miss',
      'Hit',
      'Miss',
    ]);
  });

  it('contains the body of a POST', async () => {
    const test = cache({ config: { request_method: ['GET', 'POST'] } });
    const post = (body: string): TestRequest => ({ method: 'POST', body });
    const typed = { ...post('b'), headers: { 'content-type': 'text/xml' } };
    assert.deepEqual(await statuses(test, post('t'), { ...typed, body: 't' }), ['Miss', 'Miss']);
    assert.deepEqual(await statuses(test, post('a'), post('b'), post('b'), {}, post('b')), [
      'Miss',
      'Miss',
      'Hit',
      'Miss',
      'Hit',
    ]);
  });

  it('contains the consumer, unless the response is public', async () => {
    const by = (consumer: string, path: string, control: string): TestRequest => ({
      path,
      headers: { 'x-consumer': consumer },
      backend: backend({ 'Cache-Control': control }),
    });
    const test = cache({ authenticates: true });
    const own = (consumer: string) => by(consumer, '/own', 'max-age=60');
    assert.deepEqual(await statuses(test, own('ada'), own('bob'), own('ada'), own('bob')), [
      'Miss',
      'Miss',
      'Hit',
      'Hit',
    ]);
    // A consumer may be an application, whose users only the backend knows.
    const user = (token: string) => {
      const { headers, ...rest } = by('ada', '/users', 'max-age=60');
      return { ...rest, headers: { ...headers, Authorization: token } };
    };
    assert.deepEqual(await statuses(test, user('a'), user('b'), user('a')), ['Miss', 'Miss', 'Hit']);
    const shared = (consumer: string) => by(consumer, '/all', 'public');
    assert.deepEqual(await statuses(test, shared('ada'), shared('bob')), ['Miss', 'Hit']);
    assert.deepEqual(await statuses(test, { path: '/none' }, { ...own('ada'), path: '/none' }), ['Miss', 'Miss']);
  });
});

describe('Vary', () => {
  it('separates variants', async () => {
    const test = cache();
    const language = (value: string): TestRequest => ({
      headers: { 'accept-language': value },
      backend: backend({ Vary: 'Accept-Language' }, value),
    });
    assert.deepEqual(await statuses(test, language('de'), language('en'), language('de'), language('en')), [
      'Miss',
      'Miss',
      'Hit',
      'Hit',
    ]);
    assert.equal((await test.request(language('de'))).response.body, 'de');
    assert.deepEqual(await statuses(test, { backend: backend({ Vary: 'Accept-Language' }) }), ['Miss']);
  });

  it('applies to the headers that the backend receives, which plugins may have changed', async () => {
    const test = cache();
    const sent = (value: string, more = {}): TestRequest => ({
      headers: { 'x-sent': value, 'x-kind': 'same', ...more },
      backend: backend({ Vary: 'x-kind' }, value),
    });
    assert.deepEqual(await statuses(test, sent('a'), sent('b'), sent('a')), ['Miss', 'Miss', 'Hit']);
    // A plugin removes the range.
    const { response } = await test.request(sent('a', { Range: 'bytes=0-0' }));
    assert.deepEqual([response.status, response.header('x-cache-status')], [200, 'Hit']);
  });

  it('with the address of the client separates clients', async () => {
    const test = cache();
    const from = (clientIp: string): TestRequest => ({ clientIp, backend: backend({ Vary: 'X-Forwarded-For' }) });
    assert.deepEqual(await statuses(test, from('192.0.2.1'), from('192.0.2.2'), from('192.0.2.1')), [
      'Miss',
      'Miss',
      'Hit',
    ]);
  });

  it('implies Accept-Encoding for responses with a content coding', async () => {
    const test = cache();
    const coded = { headers: { 'accept-encoding': 'gzip' }, backend: backend({ 'Content-Encoding': 'gzip' }) };
    assert.deepEqual(await statuses(test, coded, coded, {}), ['Miss', 'Hit', 'Miss']);
  });

  it('with a wildcard, an invalid name or too many names prevents caching', async () => {
    const many = Array.from({ length: 17 }, (_, at) => `x-${at}`).join(',');
    for (const vary of ['*', 'a, *', 'a b', many]) {
      const request = { backend: backend({ Vary: vary }) };
      assert.deepEqual(await statuses(cache(), request, request), ['Bypass', 'Bypass'], vary);
    }
  });
});
