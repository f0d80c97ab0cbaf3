import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, httpProtocols, refuse } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type TestOutcome, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import concurrencyLimiting from './index.ts';

type Config = Readonly<Record<string, unknown>>;

/** Sets the consumer and the credential that headers name. */
const authenticated = definePlugin({
  name: 'test-auth',
  version: '1.0.0',
  priority: 1250,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    access(context) {
      const id = context.request.header('consumer');
      const credential = context.request.header('credential');
      context.authenticate(
        id === null ? null : { id, username: id, customId: null, tags: [] },
        credential === null ? null : { id: credential, identifier: null },
      );
      return undefined;
    },
  }),
});

/** The plugin, and requests that stay in flight until `finish`; `x-then` says how they end. */
function slowly(config: Config) {
  let { promise, resolve } = Promise.withResolvers<void>();
  let inFlight = 0;
  const slow = definePlugin({
    name: 'test-slow',
    version: '1.0.0',
    priority: 10,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      async access({ request }) {
        inFlight++;
        await promise;
        if (request.header('x-then') === 'throw') throw new Error('on purpose');
        return request.header('x-then') === 'refuse' ? refuse(403, 'No') : undefined;
      },
    }),
  });
  const otherPlugins = [{ plugin: authenticated }, { plugin: slow }];
  const plugin = testPlugin(concurrencyLimiting, { config, otherPlugins });
  return {
    plugin,
    request: (request?: TestRequest) => plugin.request(request),
    inFlight: () => inFlight,
    finish(): void {
      resolve();
      inFlight = 0;
      ({ promise, resolve } = Promise.withResolvers<void>());
    },
  };
}

function statuses(outcomes: readonly TestOutcome[]): readonly number[] {
  return outcomes.map(({ response }) => response.status).sort();
}

describe('the configuration', () => {
  const { check } = testPlugin(concurrencyLimiting);

  it('has defaults', async () => {
    assert.deepEqual(await check({ limit: 5 }), {
      ok: true,
      config: {
        limit: 5,
        limit_by: 'consumer',
        header_name: null,
        ipv6_prefix: 64,
        error_code: 429,
        error_message: 'Too many concurrent requests',
      },
    });
  });

  const faults: readonly (readonly [Config, RegExp])[] = [
    [{}, /config\.limit: required field missing/],
    [{ limit: 0 }, /config\.limit: value should be between 1 and 1000000/],
    [{ limit: 1, limit_by: 'path' }, /config\.limit_by: expected one of: consumer, credential, ip, route, service/],
    [{ limit: 1, limit_by: 'header' }, /config\.header_name: required field missing/],
    [{ limit: 1, header_name: 'a b' }, /config\.header_name: /],
    [{ limit: 1, ipv6_prefix: 0 }, /config\.ipv6_prefix: value should be between 1 and 128/],
    [{ limit: 1, error_code: 200 }, /config\.error_code: value should be between 400 and 599/],
  ];
  for (const [config, message] of faults) {
    it(`refuses ${JSON.stringify(config)}`, async () => {
      const result = await check(config);
      assert.ok(!result.ok);
      assert.match(result.message, message);
    });
  }
});

it('accepts the limit of requests in flight, and more when they end', async () => {
  const test = slowly({ limit: 3 });
  for (let turn = 0; turn < 3; turn++) {
    const pending = Array.from({ length: 5 }, () => test.request());
    const refused = await Promise.all(pending.slice(3));
    assert.deepEqual(statuses(refused), [429, 429]);
    test.finish();
    assert.deepEqual(statuses(await Promise.all(pending.slice(0, 3))), [200, 200, 200]);
  }
  assert.equal(test.plugin.counts.get('concurrency-limiting.rejected'), 6);
});

it('refuses with the configured status and message, and Retry-After', async () => {
  const test = slowly({ limit: 1, error_code: 503, error_message: 'Busy' });
  const first = test.request();
  const { response, upstream } = await test.request({ headers: { Accept: 'application/json' } });
  assert.deepEqual([response.status, upstream, response.header('retry-after')], [503, null, '1']);
  assert.match(response.body, /"message": ?"Busy"/);
  test.finish();
  assert.equal((await first).response.status, 200);
});

for (const [end, status] of [
  ['refuse', 403],
  ['throw', 500],
] as const) {
  it(`frees the slot when a later plugin does ${end}`, async () => {
    const test = slowly({ limit: 1 });
    for (let turn = 0; turn < 3; turn++) {
      const pending = test.request({ headers: { 'x-then': end } });
      assert.equal((await test.request()).response.status, 429);
      test.finish();
      assert.equal((await pending).response.status, status);
    }
  });
}

it('uses no slot for a refused request', async () => {
  const test = slowly({ limit: 1 });
  const first = test.request();
  for (let at = 0; at < 10; at++) assert.equal((await test.request()).response.status, 429);
  test.finish();
  await first;
  const second = test.request();
  assert.equal((await test.request()).response.status, 429);
  test.finish();
  assert.equal((await second).response.status, 200);
});

describe('the counted client', () => {
  /** Which of the requests are accepted while all are in flight, with a limit of 1. */
  async function letThrough(config: Config, requests: readonly TestRequest[]): Promise<readonly boolean[]> {
    const test = slowly({ limit: 1, ...config });
    const refused = new Set<number>();
    const pending = requests.map(async (request, at) => {
      if ((await test.request(request)).response.status === 429) refused.add(at);
    });
    while (test.inFlight() + refused.size < requests.length) await new Promise((done) => setImmediate(done));
    test.finish();
    await Promise.all(pending);
    return requests.map((_, at) => !refused.has(at));
  }
  const by = (headers: Readonly<Record<string, string>>, clientIp = '192.0.2.1'): TestRequest => ({
    headers,
    clientIp,
  });

  it('is the consumer, else the credential, else the address', async () => {
    const requests = [
      by({ consumer: 'ada', credential: 'c1' }),
      by({ consumer: 'ada', credential: 'c2' }, '192.0.2.2'),
      by({ consumer: 'bob' }),
      by({ credential: 'c1' }),
      by({ credential: 'c1' }, '192.0.2.3'),
      by({}),
      by({}),
      by({}, '192.0.2.2'),
    ];
    assert.deepEqual(await letThrough({}, requests), [true, false, true, true, false, true, false, true]);
  });

  it('is the credential, else the address', async () => {
    const requests = [
      by({ consumer: 'ada', credential: 'c1' }),
      by({ consumer: 'ada', credential: 'c2' }),
      by({ consumer: 'bob', credential: 'c1' }),
      by({ consumer: 'ada' }),
      by({}),
    ];
    assert.deepEqual(await letThrough({ limit_by: 'credential' }, requests), [true, true, false, true, false]);
  });

  it('is the address, or the network for IPv6', async () => {
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.1', '2001:db8::1', '2001:db8::ffff', '2001:db8:0:1::1'];
    const requests = addresses.map((ip) => by({ consumer: 'ada' }, ip));
    assert.deepEqual(await letThrough({ limit_by: 'ip' }, requests), [true, true, false, true, false, true]);
    assert.deepEqual(await letThrough({ limit_by: 'ip', ipv6_prefix: 128 }, requests.slice(3)), [true, true, true]);
  });

  for (const whole of ['route', 'service']) {
    it(`is every client of the ${whole}`, async () => {
      const requests = [by({ consumer: 'ada' }), by({ consumer: 'bob' }, '192.0.2.9')];
      assert.deepEqual(await letThrough({ limit_by: whole }, requests), [true, false]);
    });
  }

  it('is the value of a header, which never equals an address', async () => {
    const requests = [
      by({ tenant: 'a' }),
      by({ tenant: 'b' }),
      by({ tenant: 'a' }),
      by({ tenant: '192.0.2.1' }),
      by({}),
    ];
    const config = { limit_by: 'header', header_name: 'Tenant' };
    assert.deepEqual(await letThrough(config, requests), [true, true, false, true, true]);
  });
});
