import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MapStore } from './map-store.fixture.ts';
import { advance, backend, cache, freezeTime, status, statuses, withCacheControl } from './proxy-cache.fixture.ts';

freezeTime();

describe('validation', () => {
  const config = { ...withCacheControl };
  const first = () => backend({ 'Cache-Control': 'max-age=10', ETag: '"1"', 'X-A': 'old', 'X-B': 'kept' }, 'whole');

  it('of a stale response by a 304 makes it fresh, and the client gets the whole response', async () => {
    const test = cache({ config });
    await test.request({ backend: first() });
    advance(20);
    const confirmed = await test.request({
      headers: { Range: 'bytes=0-1', 'If-None-Match': '"client"' },
      backend: backend({ 'Cache-Control': 'max-age=30', 'X-A': 'new' }, '', 304),
    });
    assert.deepEqual([confirmed.upstream?.header('if-none-match'), confirmed.upstream?.header('range')], ['"1"', null]);
    assert.deepEqual([confirmed.response.status, confirmed.response.body, status(confirmed)], [206, 'wh', 'Refresh']);
    advance(29);
    const hit = await test.request({});
    assert.deepEqual(
      [status(hit), hit.response.body, hit.response.header('x-a'), hit.response.header('x-b')],
      ['Hit', 'whole', 'new', 'kept'],
    );
    assert.equal(hit.response.header('age'), '29');
  });

  it('by a 304 without a date resets the age', async () => {
    const test = cache({ config });
    await test.request({ backend: first() });
    advance(20);
    await test.request({ backend: { status: 304 } });
    advance(5);
    const hit = await test.request({});
    assert.deepEqual([status(hit), hit.response.header('age')], ['Hit', '5']);
  });

  it('sends the cookies of a 304 only to the client that caused it', async () => {
    const test = cache({ config });
    await test.request({ backend: first() });
    advance(20);
    const validating = await test.request({ backend: backend({ 'Set-Cookie': 'session=1' }, '', 304) });
    const other = await test.request({});
    assert.deepEqual(
      [validating, other].map((one) => one.response.header('set-cookie')),
      ['session=1', null],
    );
    assert.equal(status(other), 'Hit');
  });

  it('happens before each use with no-cache', async () => {
    const test = cache({ config });
    const headers = { 'Cache-Control': 'no-cache', ETag: '"1"' };
    await test.request({ backend: backend(headers) });
    const { upstream, response } = await test.request({ backend: backend(headers, '', 304) });
    assert.deepEqual([upstream?.header('if-none-match'), response.status, response.body], ['"1"', 200, 'body']);
  });

  it('removes the response if the new one must not be stored', async () => {
    const test = cache({ config });
    await test.request({ backend: first() });
    advance(20);
    assert.deepEqual(
      await statuses(
        test,
        { backend: backend({ 'Cache-Control': 'no-store' }) },
        { headers: { 'Cache-Control': 'only-if-cached' } },
      ),
      ['Bypass', 'Miss'],
    );
  });
});

describe('Cache-Control of responses', () => {
  const twice = async (control: string, config: Readonly<Record<string, unknown>> = withCacheControl, more = {}) => {
    const request = { backend: backend({ 'Cache-Control': control }), ...more };
    return await statuses(cache({ config }), request, request);
  };

  it('is applied with cache_control', async () => {
    for (const control of ['no-store', 'private, max-age=60', 'max-age=0', 'no-cache', 'public', '']) {
      assert.deepEqual(await twice(control), ['Bypass', 'Bypass'], control);
    }
    assert.deepEqual(await twice('max-age=60'), ['Miss', 'Hit']);
    assert.deepEqual(await twice('max-age=0, s-maxage=60'), ['Miss', 'Hit']);
  });

  it('is ignored without cache_control, except for private and no-store', async () => {
    for (const control of ['no-cache', 'max-age=0', ''])
      assert.deepEqual(await twice(control, {}), ['Miss', 'Hit'], control);
    for (const control of ['no-store', 'private'])
      assert.deepEqual(await twice(control, {}), ['Bypass', 'Bypass'], control);
    assert.deepEqual(await twice('no-store', { ignore_no_store: true }), ['Miss', 'Hit']);
    assert.deepEqual(await twice('private', { ignore_no_store: true }), ['Bypass', 'Bypass']);
  });

  it('decides whether responses to requests with Authorization are stored', async () => {
    const more = { headers: { Authorization: 'Bearer x' } };
    assert.deepEqual(await twice('max-age=60', withCacheControl, more), ['Bypass', 'Bypass']);
    assert.deepEqual(await twice('', {}, more), ['Bypass', 'Bypass']);
    for (const control of ['public, max-age=60', 's-maxage=60', 'max-age=60, must-revalidate']) {
      assert.deepEqual(await twice(control, withCacheControl, more), ['Miss', 'Hit'], control);
    }
  });
});

describe('cookies', () => {
  const twice = async (set_cookie: string) => {
    const test = cache({ config: { set_cookie } });
    const request = { backend: backend({ 'Set-Cookie': 'session=1' }) };
    await test.request(request);
    const { response } = await test.request(request);
    return [response.header('x-cache-status'), response.header('set-cookie')];
  };

  it('are shared only if configured', async () => {
    assert.deepEqual(await twice('bypass'), ['Bypass', 'session=1']);
    assert.deepEqual(await twice('strip'), ['Hit', null]);
    assert.deepEqual(await twice('store'), ['Hit', 'session=1']);
  });
});

describe('tags', () => {
  it('are stored with the response and not sent to clients', async () => {
    const store = new MapStore();
    const test = cache({ store });
    const headers = { 'Surrogate-Key': 'a b', 'Cache-Tag': 'c, a' };
    const first = await test.request({ backend: backend(headers) });
    const hit = await test.request({});
    for (const { response } of [first, hit]) {
      assert.deepEqual([response.header('surrogate-key'), response.header('cache-tag')], [null, null]);
    }
    assert.deepEqual([...store.entries.values()][0]?.tags, ['a', 'b', 'c']);
    await store.purge({ tag: 'b' });
    assert.deepEqual(await statuses(test, {}), ['Miss']);
  });

  it('are sent to clients with pass_tags', async () => {
    const test = cache({ config: { pass_tags: true } });
    const first = await test.request({ backend: backend({ 'Surrogate-Key': 'a' }) });
    const hit = await test.request({});
    assert.deepEqual(
      [first, hit].map(({ response }) => response.header('surrogate-key')),
      ['a', 'a'],
    );
  });
});
