import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backend, cache, heeding, holdTime, pass, status, statuses } from './cache-test.fixture.ts';
import { MapStore } from './map-store.fixture.ts';

holdTime();

describe('validation', () => {
  const config = { ...heeding };
  const first = () => backend({ 'Cache-Control': 'max-age=10', ETag: '"1"', 'X-A': 'old', 'X-B': 'kept' }, 'whole');

  it('asks whether what is stale still holds; a 304 makes it fresh, and the client gets the whole', async () => {
    const test = cache({ config });
    await test.request({ backend: first() });
    pass(20);
    const confirmed = await test.request({
      headers: { Range: 'bytes=0-1', 'If-None-Match': '"client"' },
      backend: backend({ 'Cache-Control': 'max-age=30', 'X-A': 'new' }, '', 304),
    });
    assert.deepEqual([confirmed.upstream?.header('if-none-match'), confirmed.upstream?.header('range')], ['"1"', null]);
    assert.deepEqual([confirmed.response.status, confirmed.response.body, status(confirmed)], [206, 'wh', 'Refresh']);
    pass(29);
    const hit = await test.request({});
    assert.deepEqual(
      [status(hit), hit.response.body, hit.response.header('x-a'), hit.response.header('x-b')],
      ['Hit', 'whole', 'new', 'kept'],
    );
    assert.equal(hit.response.header('age'), '29');
  });

  it('counts the age anew from a 304 without a date', async () => {
    const test = cache({ config });
    await test.request({ backend: first() });
    pass(20);
    await test.request({ backend: { status: 304 } });
    pass(5);
    const hit = await test.request({});
    assert.deepEqual([status(hit), hit.response.header('age')], ['Hit', '5']);
  });

  it('gives the cookies of a 304 to the one who asked, and keeps them from others', async () => {
    const test = cache({ config });
    await test.request({ backend: first() });
    pass(20);
    const asking = await test.request({ backend: backend({ 'Set-Cookie': 'session=1' }, '', 304) });
    const other = await test.request({});
    assert.deepEqual(
      [asking, other].map((one) => one.response.header('set-cookie')),
      ['session=1', null],
    );
    assert.equal(status(other), 'Hit');
  });

  it('of no-cache happens before each use', async () => {
    const test = cache({ config });
    const answer = { 'Cache-Control': 'no-cache', ETag: '"1"' };
    await test.request({ backend: backend(answer) });
    const { upstream, response } = await test.request({ backend: backend(answer, '', 304) });
    assert.deepEqual([upstream?.header('if-none-match'), response.status, response.body], ['"1"', 200, 'body']);
  });

  it('that finds the answer gone, or not to be kept, removes it', async () => {
    const test = cache({ config });
    await test.request({ backend: first() });
    pass(20);
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

describe('Cache-Control of answers', () => {
  const twice = async (control: string, config: Readonly<Record<string, unknown>> = heeding, more = {}) => {
    const request = { backend: backend({ 'Cache-Control': control }), ...more };
    return await statuses(cache({ config }), request, request);
  };

  it('is heeded where that is asked for', async () => {
    for (const control of ['no-store', 'private, max-age=60', 'max-age=0', 'no-cache', 'public', '']) {
      assert.deepEqual(await twice(control), ['Bypass', 'Bypass'], control);
    }
    assert.deepEqual(await twice('max-age=60'), ['Miss', 'Hit']);
    assert.deepEqual(await twice('max-age=0, s-maxage=60'), ['Miss', 'Hit']);
  });

  it('is not heeded else, but for what is private or not to be stored', async () => {
    for (const control of ['no-cache', 'max-age=0', ''])
      assert.deepEqual(await twice(control, {}), ['Miss', 'Hit'], control);
    for (const control of ['no-store', 'private'])
      assert.deepEqual(await twice(control, {}), ['Bypass', 'Bypass'], control);
    assert.deepEqual(await twice('no-store', { ignore_no_store: true }), ['Miss', 'Hit']);
    assert.deepEqual(await twice('private', { ignore_no_store: true }), ['Bypass', 'Bypass']);
  });

  it('decides about answers to requests with Authorization', async () => {
    const more = { headers: { Authorization: 'Bearer x' } };
    assert.deepEqual(await twice('max-age=60', heeding, more), ['Bypass', 'Bypass']);
    assert.deepEqual(await twice('', {}, more), ['Bypass', 'Bypass']);
    for (const control of ['public, max-age=60', 's-maxage=60', 'max-age=60, must-revalidate']) {
      assert.deepEqual(await twice(control, heeding, more), ['Miss', 'Hit'], control);
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

  it('are shared only if the operator says so', async () => {
    assert.deepEqual(await twice('bypass'), ['Bypass', 'session=1']);
    assert.deepEqual(await twice('strip'), ['Hit', null]);
    assert.deepEqual(await twice('store'), ['Hit', 'session=1']);
  });
});

describe('tags', () => {
  it('are kept with the answer, and from clients', async () => {
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

  it('are shown where that is asked for', async () => {
    const test = cache({ config: { pass_tags: true } });
    const first = await test.request({ backend: backend({ 'Surrogate-Key': 'a' }) });
    const hit = await test.request({});
    assert.deepEqual(
      [first, hit].map(({ response }) => response.header('surrogate-key')),
      ['a', 'a'],
    );
  });
});
