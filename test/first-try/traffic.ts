import assert from 'node:assert/strict';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { until } from '../support/until.ts';
import { echoed, type FirstTry } from './first-try.ts';

let mirror: TestBackend;

export const traffic: Readonly<Record<string, FirstTry>> = {
  'pre-function': {
    config: { access: ["({ upstream }) => upstream.setHeader('X-First', 'yes')"] },
    works: async ({ ask }) => {
      assert.equal(echoed(await ask()).headers['x-first'], 'yes');
    },
  },
  'post-function': {
    config: { header_filter: ["({ response }) => response.setHeader('X-Last', 'yes')"] },
    works: async ({ ask }) => {
      assert.equal((await ask()).headers['x-last'], 'yes');
    },
  },
  'rate-limiting': {
    config: { minute: 5 },
    works: async ({ ask }) => {
      const answer = await ask();
      echoed(answer);
      assert.equal(answer.headers['ratelimit-remaining'], '4');
    },
  },
  'response-ratelimiting': {
    config: { limits: { sms: { minute: 5 } } },
    works: async ({ ask }) => {
      const answer = await ask();
      echoed(answer);
      assert.equal(answer.headers['x-ratelimit-remaining-sms-minute'], '5');
    },
  },
  'concurrency-limiting': { config: { limit: 1 } },
  throttling: { config: { rate: '10r/s' } },
  quotas: {
    config: { month: 100 },
    works: async ({ ask }) => {
      const answer = await ask();
      echoed(answer);
      assert.ok(Object.values(answer.headers).includes('99'), JSON.stringify(answer.headers));
    },
  },
  'request-size-limiting': {
    works: async ({ ask }) => {
      assert.equal(echoed(await ask('/', { method: 'POST', body: '{"a":1}' })).body, '{"a":1}');
    },
  },
  'circuit-breaker': {},
  retries: {},
  timeouts: { config: { total: 5000 } },
  'traffic-split': { config: { backends: [{ name: 'stable' }] } },
  'request-mirror': {
    config: async ({ resources }) => {
      mirror = resources.use(await startBackend({ name: 'mirror' }));
      return { url: mirror.url };
    },
    works: async ({ ask }) => {
      assert.equal(echoed(await ask('/42')).backend, 'backend');
      await until(() => mirror.requests.length === 1);
      assert.equal(mirror.requests[0]?.url, '/request-mirror/42', 'as the client sent it');
    },
  },
  redirect: {
    config: { location: 'https://example.com' },
    works: async ({ ask }) => {
      const { status, headers } = await ask('/42');
      assert.ok(status >= 301 && status <= 308, String(status));
      assert.match(headers['location'] ?? '', /^https:\/\/example\.com/);
    },
  },
  'request-termination': {
    works: async ({ ask }) => {
      const { status, body } = await ask();
      assert.deepEqual([status, JSON.parse(body).message], [503, 'Service unavailable']);
    },
  },
  'api-versioning': {
    config: { versions: [{ name: 'v1' }] },
    // The version is the first segment of the path.
    route: { paths: ['/v1', '/users'], strip_path: false },
    works: async ({ gateway }) => {
      const answer = await fetch(`${gateway.proxyUrl}/v1/users/42`);
      assert.equal(answer.status, 200);
      assert.equal(((await answer.json()) as { readonly url: string }).url, '/users/42');
      const unversioned = await fetch(`${gateway.proxyUrl}/users/42`);
      assert.equal(unversioned.status, 404);
      assert.deepEqual(((await unversioned.json()) as { readonly versions: unknown }).versions, ['v1']);
    },
  },
  'proxy-cache': {
    config: { strategy: 'memory' },
    works: async ({ ask }) => {
      const answer = await ask();
      echoed(answer);
      assert.ok(answer.headers['x-cache-status'] !== undefined, JSON.stringify(answer.headers));
    },
  },
  'correlation-id': {
    works: async ({ ask }) => {
      assert.ok(echoed(await ask()).headers['kong-request-id'] !== undefined);
    },
  },
  cors: {
    works: async ({ ask }) => {
      const answer = await ask('/', { headers: { Origin: 'https://shop.test' } });
      echoed(answer);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
    },
  },
  'response-headers': {
    works: async ({ ask }) => {
      const answer = await ask();
      echoed(answer);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    },
  },
  acme: {
    global: true,
    // No domains yet, so no certificate is requested; traffic continues.
    config: { account_email: 'ops@example.com', tos_accepted: true },
  },
};
