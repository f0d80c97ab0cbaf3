import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../test/support/until.ts';
import type { BackendCall } from '../../plugin-sdk/index.ts';
import type { TestRequest } from '../../plugin-sdk/testing.ts';
import { answerOf, backend, cache, heeding, heldBack, holdTime, pass, status, statuses } from './cache-test.fixture.ts';
import { MapStore } from './map-store.fixture.ts';

holdTime();

describe('unsafe methods', () => {
  it('make what is kept of their address, and of those that the answer names, useless', async () => {
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

  it('make useless what is on its way, too', async () => {
    for (const vary of [{}, { Vary: 'kind' }]) {
      const test = cache({ held: true });
      const asked = Promise.withResolvers<void>();
      const going = Promise.withResolvers<undefined>();
      heldBack.at = () => {
        asked.resolve();
        return going.promise;
      };
      // The answer was made before the change and comes after it.
      const first = test.request({ headers: { 'x-held': '1' }, backend: backend(vary, 'old') });
      await asked.promise;
      await test.request({ method: 'PUT', backend: backend({}, '', 204) });
      going.resolve(undefined);
      await first;
      pass(1);
      assert.equal((await test.request({ backend: backend(vary, 'new') })).response.body, 'new');
      assert.deepEqual(await statuses(test, {}), ['Hit']);
    }
  });

  it('take all variants', async () => {
    const test = cache();
    const kind = (value: string): TestRequest => ({ headers: { kind: value }, backend: backend({ Vary: 'kind' }) });
    await statuses(test, kind('a'), kind('b'));
    await test.request({ method: 'DELETE', backend: backend({}, '', 204) });
    assert.deepEqual(await statuses(test, kind('a'), kind('b')), ['Miss', 'Miss']);
  });
});

describe('stale answers', () => {
  const answer = (body: string, headers = {}) =>
    backend({ 'Cache-Control': 'max-age=10', ETag: '"1"', ...headers }, body);

  it('are used while they are fetched anew in the background', async () => {
    const asked: BackendCall[] = [];
    const calls = async (call: BackendCall) => {
      asked.push(call);
      return answerOf(200, 'Content-Type: application/json\r\nCache-Control: max-age=10\r\n', 'new');
    };
    const test = cache({ config: { ...heeding, stale_while_revalidate: 30 }, calls });
    await test.request({ backend: answer('old') });
    pass(20);
    const stale = await test.request({});
    assert.deepEqual([stale.upstream, stale.response.body, stale.response.header('age')], [null, 'old', '20']);
    await until(async () => (await test.request({})).response.body === 'new');
    assert.equal(asked.length, 1);
    assert.deepEqual([asked[0]?.detached, asked[0]?.keepCoding], [true, true]);
  });

  it('are not used so beyond their time, nor against their will', async () => {
    const test = cache({ config: { ...heeding, stale_while_revalidate: 5 } });
    await test.request({ backend: answer('old') });
    pass(20);
    assert.equal((await test.request({ backend: answer('new') })).response.body, 'new');
    for (const control of ['max-age=10, must-revalidate', 's-maxage=10', 'max-age=10, proxy-revalidate']) {
      const strict = cache({ config: { ...heeding, stale_while_revalidate: 60, stale_if_error: 60 } });
      await strict.request({ backend: answer('old', { 'Cache-Control': control }) });
      pass(20);
      const { response } = await strict.request({ backend: backend({}, 'failed', 503) });
      assert.deepEqual([response.status, response.body], [503, 'failed'], control);
    }
  });

  it('stand for answers of a backend that fails', async () => {
    const test = cache({ config: heeding });
    await test.request({ backend: answer('old', { 'Cache-Control': 'max-age=10, stale-if-error=60' }) });
    pass(20);
    for (const code of [500, 502, 503, 504]) {
      const { response } = await test.request({ backend: backend({}, 'failed', code) });
      assert.deepEqual([response.status, response.body, response.header('age')], [200, 'old', '20']);
    }
    pass(60);
    assert.equal((await test.request({ backend: backend({}, 'failed', 503) })).response.status, 503);
  });
});

describe('coalescing', () => {
  it('looks again before it leads: another worker may have landed between its look and its boarding', async () => {
    const store = new MapStore();
    const test = cache({ store });
    assert.equal(status(await test.request({ backend: backend() })), 'Miss');
    const [entry] = [...store.entries];
    store.entries.clear();
    const board = store.board.bind(store);
    store.board = (key) => {
      if (entry !== undefined) store.entries.set(...entry);
      return board(key);
    };
    assert.equal(status(await test.request({ backend: backend() })), 'Hit');
    assert.equal(store.flights.size, 0, 'nobody is kept waiting');
  });

  it('lands when the answer is kept, is not kept, or never comes', async () => {
    const store = new MapStore();
    const test = cache({ store });
    await test.request({ backend: backend() });
    await test.request({ path: '/1', backend: backend({}, '', 500) });
    await test.request({ path: '/2', method: 'HEAD', backend: backend({}, '') });
    assert.equal(store.flights.size, 0);
  });

  it('makes the others wait for the first, and serves them what it brought', async () => {
    const store = new MapStore();
    const test = cache({ store, config: { coalescing_wait: 10 } });
    const first = await test.request({ backend: backend({}, 'one') });
    const key = first.response.header('x-cache-key') ?? '';
    const entry = store.entries.get(key);
    assert.ok(entry);
    store.entries.delete(key);
    assert.equal(store.board(key), null);
    const waiting = [test.request({}), test.request({})];
    await until(() => store.flights.get(key)?.length === 2);
    store.entries.set(key, entry);
    store.land(key);
    const outcomes = await Promise.all(waiting);
    assert.deepEqual(outcomes.map(status), ['Hit', 'Hit']);
    assert.deepEqual(
      outcomes.map(({ upstream }) => upstream),
      [null, null],
    );
  });

  it('validates once for all who wait, also what is to be validated before each use', async () => {
    const store = new MapStore();
    const test = cache({ store, config: heeding, held: true });
    const answer = { 'Cache-Control': 'no-cache', ETag: '"1"' };
    const { response } = await test.request({ backend: backend(answer) });
    const key = response.header('x-cache-key') ?? '';
    const going = Promise.withResolvers<undefined>();
    heldBack.at = () => going.promise;
    const first = test.request({ headers: { 'x-held': '1' }, backend: backend(answer, '', 304) });
    await until(() => store.flights.has(key));
    const others = [test.request({}), test.request({})];
    await until(() => store.flights.get(key)?.length === 2);
    pass(1);
    going.resolve(undefined);
    assert.equal(status(await first), 'Refresh');
    for (const other of await Promise.all(others)) assert.deepEqual([other.upstream, status(other)], [null, 'Hit']);
  });

  it('ends when the wait is over', async () => {
    const store = new MapStore();
    const test = cache({ store, config: { coalescing_wait: 0.02 } });
    const first = await test.request({ backend: backend() });
    const key = first.response.header('x-cache-key') ?? '';
    store.entries.delete(key);
    store.board(key);
    assert.deepEqual(await statuses(test, {}), ['Miss']);
  });
});
