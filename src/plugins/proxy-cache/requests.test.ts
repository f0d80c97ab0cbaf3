import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestRequest } from '../../plugin-testing/index.ts';
import { advance, backend, cache, freezeTime, statuses, withCacheControl } from './proxy-cache.fixture.ts';

freezeTime();

describe('conditional requests', () => {
  const validators = { ETag: '"1"', 'Last-Modified': 'Sat, 21 Nov 2026 11:00:00 GMT' };

  it('are answered with 304 if the client has the cached response', async () => {
    const test = cache();
    await test.request({ backend: backend(validators) });
    for (const headers of [{ 'If-None-Match': '"1"' }, { 'If-Modified-Since': validators['Last-Modified'] }]) {
      const { response, upstream } = await test.request({ headers });
      assert.deepEqual(
        [upstream, response.status, response.body, response.header('etag'), response.header('content-type')],
        [null, 304, '', '"1"', null],
      );
    }
    assert.equal((await test.request({ headers: { 'If-None-Match': '"2"' } })).response.status, 200);
  });

  it('fetch the whole response if it is not cached, for other clients, too', async () => {
    const test = cache();
    const { upstream } = await test.request({ headers: { 'If-None-Match': '"1"' }, backend: backend(validators) });
    assert.equal(upstream?.header('if-none-match'), null);
    assert.deepEqual(await statuses(test, {}), ['Hit']);
  });

  it('that only the backend can evaluate bypass the cache', async () => {
    const test = cache();
    await test.request({ backend: backend(validators) });
    assert.deepEqual(await statuses(test, { headers: { 'If-Match': '"1"' } }), ['Bypass']);
  });
});

describe('ranges', () => {
  it('are taken from the cached response', async () => {
    const test = cache();
    await test.request({ backend: backend({ ETag: '"1"' }, '0123456789') });
    const part = async (headers: Readonly<Record<string, string>>) => {
      const { response, upstream } = await test.request({ headers });
      assert.equal(upstream, null);
      return [response.status, response.body, response.header('content-range')];
    };
    assert.deepEqual(await part({ Range: 'bytes=2-4' }), [206, '234', 'bytes 2-4/10']);
    assert.deepEqual(await part({ Range: 'bytes=-2', 'If-Range': '"1"' }), [206, '89', 'bytes 8-9/10']);
    assert.deepEqual(await part({ Range: 'bytes=2-4', 'If-Range': '"2"' }), [200, '0123456789', null]);
    assert.deepEqual(await part({ Range: 'bytes=10-' }), [416, '', 'bytes */10']);
    assert.deepEqual(await part({ Range: 'bytes=0-1,4-5' }), [200, '0123456789', null]);
  });

  it('that the backend sends are not stored', async () => {
    const test = cache({ config: { response_code: [200, 206] } });
    const partial = {
      headers: { Range: 'bytes=0-1' },
      backend: backend({ 'Content-Range': 'bytes 0-1/4' }, 'bo', 206),
    };
    assert.deepEqual(await statuses(test, partial, {}, partial), ['Bypass', 'Miss', 'Hit']);
  });
});

describe('Cache-Control of requests', () => {
  const by = (control: string): TestRequest => ({
    headers: { 'Cache-Control': control },
    backend: backend({ 'Cache-Control': 'max-age=60', Age: '20' }),
  });

  it('is applied with cache_control', async () => {
    const test = cache({ config: withCacheControl });
    await test.request(by(''));
    const all = ['max-age=30', 'max-age=10', 'min-fresh=30', 'min-fresh=50', 'no-cache', 'no-store', 'only-if-cached'];
    assert.deepEqual(await statuses(test, ...all.map(by)), [
      'Hit',
      'Refresh',
      'Hit',
      'Refresh',
      'Bypass',
      'Bypass',
      'Hit',
    ]);
  });

  it('is ignored without cache_control', async () => {
    const test = cache();
    await test.request(by(''));
    assert.deepEqual(await statuses(test, by('no-cache'), by('no-store'), by('max-age=0')), ['Hit', 'Hit', 'Hit']);
  });

  it('accepts a stale response with max-stale', async () => {
    const test = cache({ config: { ...withCacheControl, storage_ttl: 600 } });
    await test.request({ backend: backend({ 'Cache-Control': 'max-age=10' }) });
    advance(30);
    assert.deepEqual(await statuses(test, by('max-stale=30')), ['Hit']);
    assert.deepEqual(await statuses(test, by('max-stale=10')), ['Refresh']);
  });

  it('leads to 504 with only-if-cached if there is no response', async () => {
    const { response, upstream } = await cache({ config: withCacheControl }).request(by('only-if-cached'));
    assert.deepEqual([upstream, response.status], [null, 504]);
    assert.match(response.header('content-type') ?? '', /^text\/plain/);
    assert.match(response.body, /^The upstream server is timing out\n/);
  });
});
