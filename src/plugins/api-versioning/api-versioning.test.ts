import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin } from '../../plugin-sdk/index.ts';
import { type PluginTest, testPlugin } from '../../plugin-testing/index.ts';
import { timeOf } from './dates.ts';
import { selectVersion } from './handler.ts';
import plugin from './index.ts';
import type { ApiVersioningConfig } from './schema.ts';
import { compareNumbers, looksLikeVersion, numbersOf, sameVersion } from './version-names.ts';

type Config = Readonly<Record<string, unknown>>;

/** At a fixed time. */
function versioned(config: Config, now = Date.parse('2026-06-01')): PluginTest {
  const timed = definePlugin<ApiVersioningConfig>({
    name: plugin.name,
    version: plugin.version,
    priority: plugin.priority,
    protocols: plugin.protocols,
    schema: () => plugin.loadSchema() as never,
    zones: (own, id) => plugin.zones(own, id),
    setup: (own, tools) => selectVersion(own, tools, () => now),
  });
  return testPlugin(timed, { config: { versions: [{ name: 'v1' }, { name: 'v2' }, { name: 'v10' }], ...config } });
}

async function chosen(test: PluginTest, path: string, headers = {}): Promise<unknown> {
  const { record, response } = await test.request({ path, headers });
  return response.source === 'gateway' ? response.status : record['api_version'];
}

test('compares version names: equal forms, and order', () => {
  assert.ok(
    sameVersion('v1', 'V1') && sameVersion('1', 'v1') && !sameVersion('v', '') && sameVersion('Vista', 'vista'),
  );
  const compare = (one: string, other: string) => compareNumbers(numbersOf(one) ?? [], numbersOf(other) ?? []);
  assert.ok(compare('v2', 'v10') < 0 && compare('v2.1', 'v2') > 0 && compare('2', 'v2.0') === 0);
  assert.ok(compare('2025-12-31', '2026-01-01') < 0);
  assert.equal(numbersOf('beta'), null);
  assert.ok(looksLikeVersion('v3') && looksLikeVersion('v1.2') && looksLikeVersion('2026-01-31'));
  assert.ok(!looksLikeVersion('users') && !looksLikeVersion('3') && !looksLikeVersion('v') && !looksLikeVersion('v1x'));
});

test('accepts only dates that exist', () => {
  assert.equal(timeOf('2026-01-31'), Date.UTC(2026, 0, 31));
  assert.equal(timeOf('2026-01-31T12:30:00Z'), Date.UTC(2026, 0, 31, 12, 30));
  for (const text of ['2026-02-30', '2026-13-01', 'tomorrow', '2026-1-1', '2026-01-31T25:00:00Z', '']) {
    assert.equal(timeOf(text), null, text);
  }
});

test('finds and removes the version segment at the configured position of the path', async () => {
  const first = versioned({});
  const { upstream, record } = await first.request({ path: '/v2/users?x=1' });
  assert.equal(record['api_version'], 'v2');
  assert.equal(upstream?.path, '/users');
  assert.equal((await first.request({ path: '/v2' })).upstream?.path, '/');
  assert.equal((await first.request({ path: '/v1/v1' })).upstream?.path, '/v1');
  assert.equal((await first.request({ path: '/v1/a%2Fb/' })).upstream?.path, '/a%2Fb/');
  const second = versioned({ path_segment: 2, strip_path_segment: false });
  assert.equal((await second.request({ path: '/api/v2/users' })).upstream?.path, null);
  assert.equal(await chosen(second, '/api/v2/users'), 'v2');
  assert.equal(await chosen(second, '/v2'), 404);
  assert.equal(await chosen(second, '/v2/users'), 404);
});

test('ignores a path segment that is not a version', async () => {
  const test = versioned({ default: 'v1' });
  assert.equal(await chosen(test, '/users/v2'), 'v1');
  assert.equal(await chosen(test, '/1/users'), 'v1');
  assert.equal((await test.request({ path: '/users/v2' })).upstream?.path, null);
  assert.equal(await chosen(test, '/v9/users'), 404);
  assert.equal(await chosen(test, '/V2/users'), 'v2');
  assert.equal(await chosen(versioned({ versions: [{ name: 'beta' }, { name: 'v1' }] }), '/beta/users'), 'beta');
});

test('reads header, query and media type in the configured order', async () => {
  const config = { sources: ['header', 'query', 'media_type', 'path'], media_type_vendor: 'vnd.acme' };
  const test = versioned(config);
  const json = { Accept: 'application/json; version=2' };
  assert.equal(await chosen(test, '/v2/x?version=v10', { 'X-API-Version': '1', ...json }), 'v1');
  assert.equal(await chosen(test, '/v1/x?version=v10', json), 'v10');
  assert.equal(await chosen(test, '/v1/x', json), 'v2');
  assert.equal(await chosen(test, '/v1/x', { Accept: '*/*' }), 'v1');
  const { upstream } = await test.request({ path: '/x?a=b%20c&version=2&d' });
  assert.equal(upstream?.query, 'a=b%20c&d');
  const kept = await versioned({ ...config, strip_query_argument: false }).request({ path: '/x?version=2' });
  assert.equal(kept.upstream?.query, null);
});

test('reads versions from media types with parameters, vendors and weights', async () => {
  const test = versioned({ sources: ['media_type'], media_type_vendor: 'vnd.acme', default: 'v1' });
  const cases: readonly (readonly [string, unknown])[] = [
    ['application/vnd.acme.v2+json', 'v2'],
    ['application/vnd.acme.users.v2+json', 'v2'],
    ['application/vnd.acme.v2.raw+json', 'v2'],
    ['application/vnd.acme+json', 'v1'],
    ['application/vnd.acme.users+json', 'v1'],
    ['application/vnd.other.v2+json', 'v1'],
    ['application/vnd.acme.v7+json', 404],
    ['application/json; version="v10"', 'v10'],
    ['application/json; Version=10; q=0.5, application/json;version=2', 'v2'],
    ['application/json; version=2; q=0, text/html', 'v1'],
    ['text/html, application/json; x="a,b"; version=2', 'v2'],
    ['application/json; version=', 'v1'],
  ];
  for (const [accept, expected] of cases) {
    assert.equal(await chosen(test, '/', { Accept: accept }), expected, accept);
    // The second time from the cache.
    assert.equal(await chosen(test, '/', { Accept: accept }), expected, accept);
  }
  assert.equal(await chosen(test, '/', { 'Content-Type': 'application/vnd.acme.v10+json' }), 'v10');
});

test('refuses a request that names two versions', async () => {
  const test = versioned({ sources: ['header', 'query'] });
  assert.equal(await chosen(test, '/', { 'X-API-Version': ['1', '2'] }), 400);
  assert.equal(await chosen(test, '/', { 'X-API-Version': ['1', '1'] }), 'v1');
  assert.equal(await chosen(test, '/?version=1&version=2'), 400);
});

test('answers an unknown version with 404 and the list, the default, or the nearest lower version', async () => {
  const { response } = await versioned({}).request({ path: '/v3/users' });
  assert.equal(response.status, 404);
  const { message, versions } = JSON.parse(response.body);
  assert.deepEqual([message, versions], ['There is no such version', ['v1', 'v2', 'v10']]);
  assert.equal(await chosen(versioned({}), '/users'), 404);
  const usual = versioned({ unknown: 'default', default: 'v2' });
  assert.equal((await usual.request({ path: '/v3/users' })).upstream?.path, '/users');
  assert.equal(await chosen(usual, '/v3/users'), 'v2');
  const nearest = versioned({ unknown: 'nearest_lower' });
  assert.equal(await chosen(nearest, '/v9/users'), 'v2');
  assert.equal(await chosen(nearest, '/v11'), 'v10');
  assert.equal(await chosen(nearest, '/v0'), 404);
  const header = versioned({ unknown: 'nearest_lower', sources: ['header'] });
  assert.equal(await chosen(header, '/', { 'X-API-Version': 'nonsense' }), 404);
});

test('neither repeats nor logs an unknown version', async () => {
  const { response, record } = await versioned({ sources: ['header'] }).request({
    headers: { 'X-API-Version': '<script>' },
  });
  assert.ok(!response.body.includes('script'));
  assert.equal(record['api_version'], undefined);
});

test('sends deprecation, sunset and link headers, and Vary by the source', async () => {
  const old = {
    name: 'v1',
    deprecated_at: '2026-01-31',
    sunset_at: '2026-12-31T12:00:00Z',
    deprecation_link: 'https://example.com/why',
    sunset_link: '/end',
    successor_link: '/v2',
  };
  const config = {
    versions: [old, { name: 'v2' }],
    sources: ['path', 'header', 'media_type'],
    response_header: 'X-Version',
  };
  const test = versioned(config);
  const { response } = await test.request({ path: '/v1/x', backend: { headers: { Link: '</next>; rel="next"' } } });
  assert.equal(response.header('deprecation'), `@${Date.UTC(2026, 0, 31) / 1000}`);
  assert.equal(response.header('sunset'), 'Thu, 31 Dec 2026 12:00:00 GMT');
  assert.deepEqual(response.headers['link'], [
    '</next>; rel="next"',
    '<https://example.com/why>; rel="deprecation", </end>; rel="sunset", </v2>; rel="successor-version"',
  ]);
  assert.equal(response.header('x-version'), 'v1');
  assert.equal(response.header('vary'), null);
  const other = await test.request({
    path: '/x',
    headers: { 'X-API-Version': '2' },
    backend: { headers: { Vary: 'Origin' } },
  });
  assert.equal(other.response.header('deprecation'), null);
  assert.equal(other.response.header('vary'), 'Origin, X-API-Version');
  assert.equal((await test.request({ path: '/x' })).response.header('vary'), 'X-API-Version, Accept');
  const gone = await versioned(config, timeOf('2026-12-31T12:00:00Z') ?? 0).request({ path: '/v1/x' });
  assert.equal(gone.upstream, null);
  assert.equal(gone.response.status, 410);
  assert.equal(gone.response.header('sunset'), 'Thu, 31 Dec 2026 12:00:00 GMT');
  assert.match(gone.response.header('link') ?? '', /successor-version/);
  assert.deepEqual(JSON.parse(gone.response.body).versions, ['v2']);
  const late = versioned({ ...config, refuse_after_sunset: false }, Date.parse('2027-01-01'));
  assert.equal(await chosen(late, '/v1/x'), 'v1');
});

test('puts the prefix before the path, also before an unchanged one', async () => {
  const versions = [
    { name: 'v1', path_prefix: '/old' },
    { name: 'v2', path_prefix: '/new/' },
  ];
  const test = versioned({ versions });
  assert.equal((await test.request({ path: '/v1/users' })).upstream?.path, '/old/users');
  assert.equal((await test.request({ path: '/v2' })).upstream?.path, '/new/');
  const kept = versioned({ versions, strip_path_segment: false });
  assert.equal((await kept.request({ path: '/v1/users' })).upstream?.path, '/old/v1/users');
});

test('answers 503 when the service of a version does not exist, and logs it once', async () => {
  const test = versioned({ versions: [{ name: 'v1', service: 'nowhere' }] });
  assert.equal(await chosen(test, '/v1'), 503);
  assert.equal(await chosen(test, '/v1'), 503);
  assert.equal(test.logLines.length, 1);
  assert.equal(test.counts.get('api-versioning.missing'), 2);
});

test('refuses an invalid configuration', async () => {
  const { check } = testPlugin(plugin);
  const refused: readonly Config[] = [
    {},
    { versions: [] },
    { versions: [{ name: 'v1' }, { name: '1' }] },
    { versions: [{ name: 'v 1' }] },
    { versions: [{ name: 'v1', sunset_at: 'soon' }] },
    { versions: [{ name: 'v1', sunset_at: '2026-01-01', deprecated_at: '2026-02-01' }] },
    { versions: [{ name: 'v1', sunset_link: 'a> b' }] },
    { versions: [{ name: 'v1' }], default: 'v2' },
    { versions: [{ name: 'v1' }], unknown: 'default' },
    { versions: [{ name: 'beta' }], unknown: 'nearest_lower' },
    { versions: [{ name: 'v1' }], sources: ['media_type'], media_type_parameter: null },
  ];
  for (const config of refused) assert.equal((await check(config)).ok, false, JSON.stringify(config));
  assert.equal((await check({ versions: [{ name: '2026-01-31' }], unknown: 'nearest_lower' })).ok, true);
});
