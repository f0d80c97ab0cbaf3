import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { until } from '../../../test/support/until.ts';
import type { BackendAnswer, BackendCall } from '../../plugin-sdk/index.ts';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { type PluginTest, type TestOutcome, type TestRequest, testPlugin } from '../../plugin-sdk/testing.ts';
import { cachePlugin } from './cache-plugin.fixture.ts';
import { MapStore } from './map-store.fixture.ts';

const start = Date.UTC(2026, 10, 21, 12);

beforeEach(() => mock.timers.enable({ apis: ['Date'], now: start }));
afterEach(() => mock.timers.reset());

/** Seconds go by. */
const pass = (seconds: number): void => mock.timers.setTime(Date.now() + seconds * 1000);

interface Setting {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly store?: MapStore;
  readonly calls?: (call: BackendCall) => BackendAnswer | Promise<BackendAnswer>;
  readonly who?: boolean;
  readonly held?: boolean;
}

/** Names the consumer that the header `x-who` names. */
const named = definePlugin({
  name: 'named',
  version: '1.0.0',
  priority: 1250,
  protocols: httpProtocols,
  schema: async () => ({ config: (await import('../../plugin-sdk/schema.ts')).record({}) }) as never,
  setup: () => ({
    access(context) {
      const id = context.request.header('x-who');
      if (id !== null) context.authenticate({ id, username: id, customId: null, tags: [] }, { id, identifier: id });
      return undefined;
    },
  }),
});

let hold: () => Promise<undefined> = async () => undefined;

/** Holds requests with `x-held` back where the backend would be asked. */
const holding = definePlugin({
  name: 'holding',
  version: '1.0.0',
  priority: 50,
  protocols: httpProtocols,
  schema: async () => ({ config: (await import('../../plugin-sdk/schema.ts')).record({}) }) as never,
  setup: () => ({ access: ({ request }) => (request.header('x-held') === null ? undefined : hold()) }),
});

function cache(setting: Setting = {}): PluginTest {
  const { config = {}, store = new MapStore(), calls, who = false, held = false } = setting;
  return testPlugin(cachePlugin(store), {
    config: { strategy: 'memory', ...config },
    ...(calls === undefined ? {} : { calls }),
    beside: [...(who ? [{ plugin: named }] : []), ...(held ? [{ plugin: holding }] : [])],
  });
}

const heeding = { cache_control: true };

/** An answer with these header fields besides its type and date. */
function backend(headers: Readonly<Record<string, string | readonly string[]>> = {}, body = 'body', status = 200) {
  const date = new Date().toUTCString();
  return { status, headers: { 'Content-Type': 'application/json', Date: date, ...headers }, body };
}

const status = ({ response }: TestOutcome): string | null => response.header('x-cache-status');

/** The statuses that these requests have in turn. */
async function statuses(test: PluginTest, ...requests: readonly TestRequest[]): Promise<readonly (string | null)[]> {
  const all: (string | null)[] = [];
  for (const request of requests) all.push(status(await test.request({ backend: backend(), ...request })));
  return all;
}

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

  it('takes times as seconds or with a unit', async () => {
    for (const [given, seconds] of [
      [20, 20],
      ['5m', 300],
      ['2h', 7200],
      ['1d', 86_400],
    ] as const) {
      const checked = await check({ cache_ttl: given });
      assert.equal(checked.ok && checked.config['cache_ttl'], seconds, String(given));
    }
    for (const bad of [0, -1, 'soon', '5 m', 1.5])
      assert.equal((await check({ cache_ttl: bad })).ok, false, String(bad));
  });

  it('refuses what cannot work', async () => {
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

describe('an answer', () => {
  it('is a Miss, then a Hit with its age, then a Refresh', async () => {
    const test = cache({ config: { cache_ttl: 30, storage_ttl: 60 } });
    const first = await test.request({ backend: backend({ 'X-A': '1' }, 'one') });
    assert.deepEqual([status(first), first.response.header('age')], ['Miss', null]);
    pass(10);
    const hit = await test.request({ backend: backend({}, 'two') });
    assert.equal(hit.upstream, null);
    assert.deepEqual(
      [status(hit), hit.response.header('age'), hit.response.header('x-a'), hit.response.body],
      ['Hit', '10', '1', 'one'],
    );
    assert.equal(hit.response.header('x-cache-key'), first.response.header('x-cache-key'));
    assert.match(hit.response.header('x-cache-key') ?? '', /^[0-9a-f]{64}$/);
    pass(20);
    const refreshed = await test.request({ backend: backend({}, 'three') });
    assert.deepEqual([status(refreshed), refreshed.response.body], ['Refresh', 'three']);
    assert.deepEqual(await statuses(test, {}), ['Hit']);
  });

  it('that has no end is not kept, nor waited for', async () => {
    const events = { backend: backend({ 'Content-Type': 'text/event-stream' }) };
    assert.deepEqual(await statuses(cache({ config: { content_type: ['*/*'] } }), events, events), [
      'Bypass',
      'Bypass',
    ]);
  });

  it('is not kept for its status, its type, or the method of its request', async () => {
    const test = cache();
    assert.deepEqual(await statuses(test, { method: 'POST' }, { method: 'POST' }), ['Bypass', 'Bypass']);
    const bad = { path: '/1', backend: backend({}, 'x', 500) };
    assert.deepEqual(await statuses(test, bad, bad), ['Bypass', 'Bypass']);
    const typed = { path: '/2', backend: backend({ 'Content-Type': 'application/json; charset=utf-8' }) };
    assert.deepEqual(await statuses(test, typed, typed), ['Bypass', 'Bypass']);
  });

  it('to a method that is not for the cache has no key', async () => {
    const { response } = await cache().request({ method: 'POST', backend: backend() });
    assert.equal(response.header('x-cache-key'), null);
  });

  it('tells nothing of the cache where that is so configured', async () => {
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

  it('goes after storage_ttl, fresh or not', async () => {
    const test = cache({ config: { cache_ttl: 30, storage_ttl: 10 } });
    await test.request({ backend: backend({ ETag: '"1"' }) });
    pass(11);
    assert.deepEqual(await statuses(test, {}), ['Miss']);
  });

  it('that is larger than the bound streams on and is not kept', async () => {
    const store = new MapStore();
    const test = cache({ store, config: { max_body: '1k' } });
    const large = backend({}, 'x'.repeat(1025));
    const { response } = await test.request({ backend: large });
    assert.equal(response.body.length, 1025);
    const again = await test.request({ backend: large });
    assert.notEqual(again.upstream, null);
    assert.ok([...store.entries.values()].every(({ body }) => body.byteLength === 0));
  });

  it('to a HEAD comes from what a GET left, and a HEAD leaves nothing', async () => {
    const test = cache();
    const head = { method: 'HEAD', backend: backend({}, '') };
    assert.deepEqual(await statuses(test, head, head), ['Miss', 'Miss']);
    await test.request({ backend: backend({}, 'four') });
    const { response, upstream } = await test.request({ method: 'HEAD' });
    assert.deepEqual([upstream, response.status, response.body], [null, 200, '']);
  });

  it('is kept with other stores, too, that answer later', async () => {
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
  it('holds the query, sorted, or chosen arguments of it', async () => {
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

  it('holds headers that are named', async () => {
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

  it('holds the body of a POST', async () => {
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

  it('holds the consumer, unless the answer is public', async () => {
    const by = (who: string, path: string, control: string): TestRequest => ({
      path,
      headers: { 'x-who': who },
      backend: backend({ 'Cache-Control': control }),
    });
    const test = cache({ who: true });
    const own = (who: string) => by(who, '/own', 'max-age=60');
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
    const shared = (who: string) => by(who, '/all', 'public');
    assert.deepEqual(await statuses(test, shared('ada'), shared('bob')), ['Miss', 'Hit']);
    assert.deepEqual(await statuses(test, { path: '/none' }, { ...own('ada'), path: '/none' }), ['Miss', 'Miss']);
  });
});

describe('Vary', () => {
  it('keeps variants apart, and finds each again', async () => {
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

  it('is taken for said of answers with a content coding', async () => {
    const test = cache();
    const coded = { headers: { 'accept-encoding': 'gzip' }, backend: backend({ 'Content-Encoding': 'gzip' }) };
    assert.deepEqual(await statuses(test, coded, coded, {}), ['Miss', 'Hit', 'Miss']);
  });

  it('with a star, with what is no name, or with too many names is not kept', async () => {
    const many = Array.from({ length: 17 }, (_, at) => `x-${at}`).join(',');
    for (const vary of ['*', 'a, *', 'a b', many]) {
      const request = { backend: backend({ Vary: vary }) };
      assert.deepEqual(await statuses(cache(), request, request), ['Bypass', 'Bypass'], vary);
    }
  });
});

describe('conditional requests', () => {
  const kept = { ETag: '"1"', 'Last-Modified': 'Sat, 21 Nov 2026 11:00:00 GMT' };

  it('are answered with 304 when the client has what is kept', async () => {
    const test = cache();
    await test.request({ backend: backend(kept) });
    for (const headers of [{ 'If-None-Match': '"1"' }, { 'If-Modified-Since': kept['Last-Modified'] }]) {
      const { response, upstream } = await test.request({ headers });
      assert.deepEqual(
        [upstream, response.status, response.body, response.header('etag'), response.header('content-type')],
        [null, 304, '', '"1"', null],
      );
    }
    assert.equal((await test.request({ headers: { 'If-None-Match': '"2"' } })).response.status, 200);
  });

  it('that find nothing fetch the whole, for others, too', async () => {
    const test = cache();
    const { upstream } = await test.request({ headers: { 'If-None-Match': '"1"' }, backend: backend(kept) });
    assert.equal(upstream?.header('if-none-match'), null);
    assert.deepEqual(await statuses(test, {}), ['Hit']);
  });

  it('that only the backend can judge go there', async () => {
    const test = cache();
    await test.request({ backend: backend(kept) });
    assert.deepEqual(await statuses(test, { headers: { 'If-Match': '"1"' } }), ['Bypass']);
  });
});

describe('ranges', () => {
  it('are cut from the whole that is kept', async () => {
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

  it('that the backend answers are not kept', async () => {
    const test = cache({ config: { response_code: [200, 206] } });
    const partial = {
      headers: { Range: 'bytes=0-1' },
      backend: backend({ 'Content-Range': 'bytes 0-1/4' }, 'bo', 206),
    };
    assert.deepEqual(await statuses(test, partial, {}, partial), ['Bypass', 'Miss', 'Hit']);
  });
});

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

describe('Cache-Control of requests', () => {
  const by = (control: string): TestRequest => ({
    headers: { 'Cache-Control': control },
    backend: backend({ 'Cache-Control': 'max-age=60', Age: '20' }),
  });

  it('is heeded where that is asked for', async () => {
    const test = cache({ config: heeding });
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

  it('is not heeded else', async () => {
    const test = cache();
    await test.request(by(''));
    assert.deepEqual(await statuses(test, by('no-cache'), by('no-store'), by('max-age=0')), ['Hit', 'Hit', 'Hit']);
  });

  it('lets a stale answer do', async () => {
    const test = cache({ config: { ...heeding, storage_ttl: 600 } });
    await test.request({ backend: backend({ 'Cache-Control': 'max-age=10' }) });
    pass(30);
    assert.deepEqual(await statuses(test, by('max-stale=30')), ['Hit']);
    assert.deepEqual(await statuses(test, by('max-stale=10')), ['Refresh']);
  });

  it('only-if-cached finds nothing: 504', async () => {
    const { response, upstream } = await cache({ config: heeding }).request(by('only-if-cached'));
    assert.deepEqual([upstream, response.status], [null, 504]);
    assert.match(response.body, /The upstream server is timing out/);
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
      hold = () => {
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

describe('coalescing', () => {
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

function answerOf(code: number, block: string, body: string): BackendAnswer {
  return {
    status: code,
    header: () => null,
    headerValues: () => [],
    headers: () => ({}),
    block: () => block,
    body: Buffer.from(body),
  };
}
