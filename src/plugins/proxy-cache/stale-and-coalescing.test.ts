import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../test/support/until.ts';
import type { BackendCall } from '../../plugin-sdk/index.ts';
import type { TestRequest } from '../../plugin-testing/index.ts';
import { MapStore } from './map-store.fixture.ts';
import {
  advance,
  backend,
  cache,
  callResult,
  freezeTime,
  heldBack,
  status,
  statuses,
  withCacheControl,
} from './proxy-cache.fixture.ts';

freezeTime();

describe('unsafe methods', () => {
  it('invalidate their address, and those that the response names', async () => {
    const test = cache();
    const get = (path: string): TestRequest => ({ path });
    const post = (code: number, headers = {}): TestRequest => ({
      method: 'POST',
      path: '/list/a?x=1',
      backend: backend(headers, '', code),
    });
    const all = [get('/list/a?x=1'), get('/list/b'), get('/list/c'), get('/list/a')];
    await statuses(test, ...all);
    await test.request(post(500));
    assert.deepEqual(await statuses(test, ...all), ['Hit', 'Hit', 'Hit', 'Hit']);
    await test.request(post(201, { Location: 'b', 'Content-Location': 'http://other.example/list/c' }));
    assert.deepEqual(await statuses(test, ...all), ['Miss', 'Miss', 'Hit', 'Hit']);
    await test.request(post(303, { 'Content-Location': 'http://test.example/list/c' }));
    assert.deepEqual(await statuses(test, ...all), ['Miss', 'Hit', 'Miss', 'Hit']);
  });

  it('invalidate responses that are on their way', async () => {
    for (const vary of [{}, { Vary: 'kind' }]) {
      const test = cache({ held: true });
      const arrived = Promise.withResolvers<void>();
      const resume = Promise.withResolvers<undefined>();
      heldBack.until = () => {
        arrived.resolve();
        return resume.promise;
      };
      // The response was made before the change and is received after it.
      const first = test.request({ headers: { 'x-held': '1' }, backend: backend(vary, 'old') });
      await arrived.promise;
      await test.request({ method: 'PUT', backend: backend({}, '', 204) });
      resume.resolve(undefined);
      await first;
      advance(1);
      assert.equal((await test.request({ backend: backend(vary, 'new') })).response.body, 'new');
      assert.deepEqual(await statuses(test, {}), ['Hit']);
    }
  });

  it('invalidate all variants', async () => {
    const test = cache();
    const kind = (value: string): TestRequest => ({ headers: { kind: value }, backend: backend({ Vary: 'kind' }) });
    await statuses(test, kind('a'), kind('b'));
    await test.request({ method: 'DELETE', backend: backend({}, '', 204) });
    assert.deepEqual(await statuses(test, kind('a'), kind('b')), ['Miss', 'Miss']);
  });
});

describe('stale responses', () => {
  const cacheable = (body: string, headers = {}) =>
    backend({ 'Cache-Control': 'max-age=10', ETag: '"1"', ...headers }, body);

  it('are served while they are refreshed in the background', async () => {
    const sent: BackendCall[] = [];
    const calls = async (call: BackendCall) => {
      sent.push(call);
      return callResult(200, 'Content-Type: application/json\r\nCache-Control: max-age=10\r\n', 'new');
    };
    const test = cache({ config: { ...withCacheControl, stale_while_revalidate: 30 }, calls });
    await test.request({ backend: cacheable('old') });
    advance(20);
    const stale = await test.request({});
    assert.deepEqual([stale.upstream, stale.response.body, stale.response.header('age')], [null, 'old', '20']);
    await until(async () => (await test.request({})).response.body === 'new');
    assert.equal(sent.length, 1);
    assert.deepEqual([sent[0]?.detached, sent[0]?.keepCoding], [true, true]);
  });

  it('are not served after stale_while_revalidate, nor with must-revalidate', async () => {
    const test = cache({ config: { ...withCacheControl, stale_while_revalidate: 5 } });
    await test.request({ backend: cacheable('old') });
    advance(20);
    assert.equal((await test.request({ backend: cacheable('new') })).response.body, 'new');
    for (const control of ['max-age=10, must-revalidate', 's-maxage=10', 'max-age=10, proxy-revalidate']) {
      const strict = cache({ config: { ...withCacheControl, stale_while_revalidate: 60, stale_if_error: 60 } });
      await strict.request({ backend: cacheable('old', { 'Cache-Control': control }) });
      advance(20);
      const { response } = await strict.request({ backend: backend({}, 'failed', 503) });
      assert.deepEqual([response.status, response.body], [503, 'failed'], control);
    }
  });

  it('are served while the backend fails', async () => {
    const test = cache({ config: withCacheControl });
    await test.request({ backend: cacheable('old', { 'Cache-Control': 'max-age=10, stale-if-error=60' }) });
    advance(20);
    for (const code of [500, 502, 503, 504]) {
      const { response } = await test.request({ backend: backend({}, 'failed', code) });
      assert.deepEqual([response.status, response.body, response.header('age')], [200, 'old', '20']);
    }
    advance(60);
    assert.equal((await test.request({ backend: backend({}, 'failed', 503) })).response.status, 503);
  });
});

describe('coalescing', () => {
  it('looks again after it got the lock: another worker may have stored the response', async () => {
    const store = new MapStore();
    const test = cache({ store });
    assert.equal(status(await test.request({ backend: backend() })), 'Miss');
    const [entry] = [...store.entries];
    store.entries.clear();
    const acquireLock = store.acquireLock.bind(store);
    store.acquireLock = (key) => {
      if (entry !== undefined) store.entries.set(...entry);
      return acquireLock(key);
    };
    assert.equal(status(await test.request({ backend: backend() })), 'Hit');
    assert.equal(store.locks.size, 0, 'the lock is released');
  });

  it('releases the lock if the response is stored, is not stored, or has no body', async () => {
    const store = new MapStore();
    const test = cache({ store });
    await test.request({ backend: backend() });
    await test.request({ path: '/1', backend: backend({}, '', 500) });
    await test.request({ path: '/2', method: 'HEAD', backend: backend({}, '') });
    assert.equal(store.locks.size, 0);
  });

  it('makes requests wait for the first one, and serves them its response', async () => {
    const store = new MapStore();
    const test = cache({ store, config: { coalescing_wait: 10 } });
    const first = await test.request({ backend: backend({}, 'one') });
    const key = first.response.header('x-cache-key') ?? '';
    const entry = store.entries.get(key);
    assert.ok(entry);
    store.entries.delete(key);
    assert.equal(store.acquireLock(key), null);
    const waiting = [test.request({}), test.request({})];
    await until(() => store.locks.get(key)?.length === 2);
    store.entries.set(key, entry);
    store.releaseLock(key);
    const outcomes = await Promise.all(waiting);
    assert.deepEqual(outcomes.map(status), ['Hit', 'Hit']);
    assert.deepEqual(
      outcomes.map(({ upstream }) => upstream),
      [null, null],
    );
  });

  it('validates once for all waiting requests, even with no-cache', async () => {
    const store = new MapStore();
    const test = cache({ store, config: withCacheControl, held: true });
    const headers = { 'Cache-Control': 'no-cache', ETag: '"1"' };
    const { response } = await test.request({ backend: backend(headers) });
    const key = response.header('x-cache-key') ?? '';
    const resume = Promise.withResolvers<undefined>();
    heldBack.until = () => resume.promise;
    const first = test.request({ headers: { 'x-held': '1' }, backend: backend(headers, '', 304) });
    await until(() => store.locks.has(key));
    const others = [test.request({}), test.request({})];
    await until(() => store.locks.get(key)?.length === 2);
    advance(1);
    resume.resolve(undefined);
    assert.equal(status(await first), 'Refresh');
    for (const other of await Promise.all(others)) assert.deepEqual([other.upstream, status(other)], [null, 'Hit']);
  });

  it('sends a request to the backend after coalescing_wait', async () => {
    const store = new MapStore();
    const test = cache({ store, config: { coalescing_wait: 0.02 } });
    const first = await test.request({ backend: backend() });
    const key = first.response.header('x-cache-key') ?? '';
    store.entries.delete(key);
    store.acquireLock(key);
    assert.deepEqual(await statuses(test, {}), ['Miss']);
  });
});
