import assert from 'node:assert/strict';
import { describe, it, mock, type TestContext } from 'node:test';
import {
  definePlugin,
  type EntityRow,
  httpProtocols,
  type PluginAdminRequest,
  type PluginAdminTools,
  type StoredCounter,
} from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import { adminRoutes } from './admin.ts';
import quotas from './index.ts';
import { counterKey, spanOf } from './quota.ts';

type Config = Readonly<Record<string, unknown>>;

const ada = '7f6b8c1e-0000-4000-8000-0000000000aa';
const noon = Date.UTC(2026, 10, 30, 12);

/** Sets the consumer and the credential that a header names. */
const authenticated = definePlugin({
  name: 'test-auth',
  version: '1.0.0',
  priority: 1250,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    access(context) {
      const id = context.request.header('x-credential');
      if (id !== null)
        context.authenticate({ id: ada, username: 'ada', customId: null, tags: [] }, { id, identifier: null });
      return undefined;
    },
  }),
});

function plugin(t: TestContext, config: Config) {
  const test = testPlugin(quotas, { config, otherPlugins: [{ plugin: authenticated }] });
  t.after(() => test.dispose());
  return test;
}

function setClock(t: TestContext, now: number): void {
  mock.timers.enable({ apis: ['Date'], now });
  t.after(() => mock.timers.reset());
}

describe('the configuration', () => {
  it('has defaults', async () => {
    assert.deepEqual(await testPlugin(quotas).check({ day: 1 }), {
      ok: true,
      config: {
        day: 1,
        month: null,
        limit_by: 'consumer',
        ipv6_prefix: 64,
        fault_tolerant: true,
        hide_client_headers: false,
        error_code: 429,
        error_message: 'Quota exceeded',
      },
    });
  });
  const refused: readonly (readonly [Config, RegExp])[] = [
    [{}, /at least one of these fields must be non-empty: 'config\.day', 'config\.month'/],
    [{ day: 0 }, /day: value must be greater than 0/],
    [{ day: 2, month: 1 }, /config: The limit for month\(1\.0\) cannot be lower than the limit for day\(2\.0\)/],
    [{ day: 1, limit_by: 'path' }, /limit_by: expected one of/],
  ];
  for (const [config, message] of refused) {
    it(`refuses ${JSON.stringify(config)}`, async () => {
      const checked = await testPlugin(quotas).check(config);
      assert.ok(!checked.ok);
      assert.match(checked.message, message);
    });
  }
});

describe('requests', () => {
  // Without the counters of the node, which are only used while the store is unavailable.
  const strict = { fault_tolerant: false };

  it('are accepted until a quota is used up, and again in the next period', async (t) => {
    setClock(t, noon);
    const test = plugin(t, { ...strict, day: 2, month: 5 });
    const headers = { 'X-Credential': 'c1', Accept: 'application/json' };
    const first = await test.request({ headers });
    const shown = ['limit-day', 'remaining-day', 'limit-month', 'remaining-month'];
    assert.deepEqual(
      shown.map((name) => first.response.header(`x-quota-${name}`)),
      ['2', '1', '5', '4'],
    );
    await test.request({ headers });
    const refused = await test.request({ headers });
    assert.deepEqual([refused.response.status, refused.upstream], [429, null]);
    assert.match(refused.response.body, /"message": ?"Quota exceeded"/);
    assert.equal(refused.response.header('retry-after'), String(12 * 3600));
    assert.equal(refused.response.header('x-quota-remaining-day'), '0');
    assert.equal(refused.response.header('x-quota-remaining-month'), '3');
    mock.timers.setTime(Date.UTC(2026, 11, 1));
    const next = await test.request({ headers });
    assert.deepEqual([next.response.status, next.response.header('x-quota-remaining-month')], [200, '4']);
  });

  it('are refused as configured', async (t) => {
    const test = plugin(t, { ...strict, day: 1, error_code: 402, error_message: 'Pay', hide_client_headers: true });
    await test.request();
    const { response } = await test.request();
    assert.equal(response.status, 402);
    assert.match(response.body, /Pay/);
    assert.equal(response.header('x-quota-limit-day'), null);
  });

  it('are accepted up to exactly the quota when concurrent', async (t) => {
    const test = plugin(t, { ...strict, month: 30 });
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => test.request()));
    assert.equal(outcomes.filter(({ response }) => response.status === 200).length, 30);
  });

  it('from one IPv6 network count as one client', async (t) => {
    const test = plugin(t, { ...strict, day: 5, limit_by: 'ip' });
    const left: (string | null)[] = [];
    for (const clientIp of ['2001:db8::1', '2001:db8::ffff', '2001:db8:0:1::1']) {
      left.push((await test.request({ clientIp })).response.header('x-quota-remaining-day'));
    }
    assert.deepEqual(left, ['4', '3', '4']);
  });

  const cases = { consumer: ['4', '3', '4', '2'], credential: ['4', '4', '4', '3'], ip: ['4', '4', '3', '3'] };
  for (const [limit_by, expected] of Object.entries(cases)) {
    it(`are counted by ${limit_by}`, async (t) => {
      const test = plugin(t, { ...strict, day: 5, limit_by });
      const left: (string | null)[] = [];
      for (const [credential, clientIp] of [
        ['c1', '192.0.2.1'],
        ['c2', '192.0.2.2'],
        [null, '192.0.2.2'],
        ['c2', '192.0.2.1'],
      ] as const) {
        const headers: Record<string, string> = credential === null ? {} : { 'X-Credential': credential };
        left.push((await test.request({ clientIp, headers })).response.header('x-quota-remaining-day'));
      }
      assert.deepEqual(left, expected);
    });
  }
});

describe('GET /consumers/{consumers}/quotas', () => {
  const dayStart = Date.UTC(2026, 10, 30);
  const monthStart = Date.UTC(2026, 10, 1);

  function instance(id: string, fields: Config = {}, config: Config = {}): EntityRow {
    const settings = { day: 10, month: null, limit_by: 'consumer', ...config };
    return {
      id,
      created_at: 0,
      name: 'quotas',
      enabled: true,
      route: null,
      service: null,
      consumer: null,
      ...fields,
      config: settings,
    };
  }

  function admin(plugins: readonly EntityRow[], counters: readonly StoredCounter[] = []) {
    const reset: string[] = [];
    const tools: PluginAdminTools = {
      settings: {
        untrustedFunctions: 'off',
        hashKeys: false,
        trustedCertificates: null,
        tracing: { instrumentations: new Set(), samplingRate: 0 },
      },
      find: async (_, name) => (name === 'ada' ? { id: ada, created_at: 0 } : null),
      list: async () => [],
      all: async () => plugins,
      counters: async (keys) => counters.filter((counter) => keys.includes(counter.key)),
      resetCounters: async (ids) => void reset.push(...ids.map(({ key, windowStart }) => `${key}@${windowStart}`)),
      zone: () => null,
      carriesTraffic: true,
      background: async () => null,
      broadcast: async () => false,
    };
    const operations = adminRoutes(tools)[0]?.operations;
    const call = (method: 'GET' | 'DELETE', query: Readonly<Record<string, string>> = {}, consumers = 'ada') => {
      const request: PluginAdminRequest = { params: { consumers }, query: (name) => query[name] ?? null, body: {} };
      return operations?.[method]?.handle(request);
    };
    const ids = async () => {
      const answer = (await call('GET'))?.json as { data: readonly { plugin: { id: string } }[] };
      return answer.data.map((quota) => quota.plugin.id);
    };
    return { call, reset, ids };
  }

  it('returns the usage of each period, and when it resets', async (t) => {
    setClock(t, noon);
    const { call } = admin(
      [instance('p1', { route: { id: 'r' } }, { month: 100 })],
      [
        { key: counterKey('p1', 'day', ada), windowStart: dayStart - 86_400_000, used: 9 },
        { key: counterKey('p1', 'day', ada), windowStart: dayStart, used: 12 },
        { key: counterKey('p1', 'month', ada), windowStart: monthStart, used: 40 },
      ],
    );
    const common = { plugin: { id: 'p1' }, route: { id: 'r' }, service: null, resets_at: Date.UTC(2026, 11, 1) / 1000 };
    assert.deepEqual(await call('GET'), {
      status: 200,
      json: {
        data: [
          { ...common, period: 'day', limit: 10, used: 12, remaining: 0 },
          { ...common, period: 'month', limit: 100, used: 40, remaining: 60 },
        ],
        next: null,
      },
    });
  });

  it('answers 404 for a consumer that does not exist', async () => {
    assert.equal(await admin([]).call('GET', {}, 'bob'), null);
    assert.equal(await admin([]).call('DELETE', {}, 'bob'), null);
  });

  it('returns the instances that apply', async () => {
    const other = { consumer: { id: 'somebody else' } };
    const plugins = [
      instance('global'),
      instance('route', { route: { id: 'r' } }),
      instance('other', other),
      instance('off', { service: { id: 's' }, enabled: false }),
      instance('by ip', { service: { id: 's2' } }, { limit_by: 'ip' }),
      { ...instance('another plugin'), name: 'rate-limiting' },
    ];
    assert.deepEqual(await admin(plugins).ids(), ['global', 'route']);
    const own = instance('own', { consumer: { id: ada } });
    assert.deepEqual(await admin([...plugins, own]).ids(), ['own']);
    const narrow = instance('narrow', { consumer: { id: ada }, route: { id: 'r' } });
    assert.deepEqual(await admin([...plugins, narrow]).ids(), ['global', 'narrow']);
  });

  it('resets counters on DELETE', async (t) => {
    setClock(t, noon);
    const plugins = [instance('p1', {}, { month: 100 }), instance('p2', { route: { id: 'r' } })];
    const day = `${counterKey('p1', 'day', ada)}@${dayStart}`;
    const month = `${counterKey('p1', 'month', ada)}@${monthStart}`;
    const routeDay = `${counterKey('p2', 'day', ada)}@${dayStart}`;
    const expected: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
      [{}, [day, month, routeDay]],
      [{ period: 'day' }, [day, routeDay]],
      [{ plugin: 'p1' }, [day, month]],
    ];
    for (const [query, keys] of expected) {
      const { call, reset } = admin(plugins);
      assert.deepEqual(await call('DELETE', query), { status: 204 });
      assert.deepEqual(reset, keys);
    }
    const wrong = admin(plugins);
    assert.equal((await wrong.call('DELETE', { period: 'week' }))?.status, 400);
    assert.deepEqual(wrong.reset, []);
  });
});

it('computes the ends of months', () => {
  const at = Date.UTC(2028, 1, 29, 23, 59);
  assert.deepEqual(spanOf('month', at), { start: Date.UTC(2028, 1), end: Date.UTC(2028, 2) });
  assert.deepEqual(spanOf('day', at), { start: Date.UTC(2028, 1, 29), end: Date.UTC(2028, 2) });
});
