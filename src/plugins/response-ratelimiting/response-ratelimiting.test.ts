import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import responseRatelimiting from './index.ts';

type Config = Readonly<Record<string, unknown>>;

const video = { limits: { video: { hour: 5 } } };

function plugin(t: TestContext, config: Config) {
  const test = testPlugin(responseRatelimiting, { config });
  t.after(() => test.dispose());
  return test;
}

function costing(cost: string, clientIp = '192.0.2.1') {
  return { clientIp, backend: { headers: { 'X-Kong-Limit': cost, 'Content-Type': 'text/plain' }, body: 'film' } };
}

describe('the configuration', () => {
  it('has the defaults of Kong', async () => {
    const checked = await testPlugin(responseRatelimiting).check(video);
    const none = { second: null, minute: null, hour: null, day: null, month: null, year: null };
    assert.deepEqual(checked, {
      ok: true,
      config: {
        header_name: 'x-kong-limit',
        limit_by: 'consumer',
        policy: 'local',
        fault_tolerant: true,
        redis: {
          host: null,
          port: 6379,
          timeout: 2000,
          username: null,
          password: null,
          database: 0,
          ssl: false,
          ssl_verify: false,
          server_name: null,
          connect_timeout: null,
          send_timeout: null,
          read_timeout: null,
          sentinel_master: null,
          sentinel_role: null,
          sentinel_nodes: null,
          sentinel_username: null,
          sentinel_password: null,
          cluster_nodes: null,
          cluster_max_redirections: 5,
        },
        block_on_first_violation: false,
        hide_client_headers: false,
        limits: { video: { ...none, hour: 5 } },
      },
    });
  });

  const refused: readonly (readonly [Config, RegExp])[] = [
    [{}, /limits: required field missing/],
    [{ limits: {} }, /limits: length must be at least 1/],
    [{ limits: { video: {} } }, /at least one of these fields must be non-empty: 'second', 'minute'/],
    [{ limits: { video: { second: 0 } } }, /second = "value must be greater than 0"/],
    [
      { limits: { video: { minute: 2, hour: 1 } } },
      /The limit for hour\(1\.0\) cannot be lower than the limit for minute\(2\.0\)/,
    ],
    [{ limits: { 'a b': { second: 1 } } }, /'a b' cannot be part of a header name/],
    [{ ...video, policy: 'redis' }, /host = "required field missing"/],
    [{ ...video, redis_host: 'a', redis: { host: 'b' } }, /values mismatch: redis_host = a vs redis\.host = b/],
    [{ ...video, limit_by: 'path' }, /limit_by: expected one of/],
  ];
  for (const [config, message] of refused) {
    it(`refuses ${JSON.stringify(config)}`, async () => {
      const checked = await testPlugin(responseRatelimiting).check(config);
      assert.ok(!checked.ok);
      assert.match(checked.message, message);
    });
  }

  it('counts locally when the policy and other fields with defaults are null', async (t) => {
    const test = plugin(t, { ...video, policy: null, limit_by: null, header_name: null });
    assert.equal((await test.request(costing('video=5'))).response.status, 200);
    assert.equal((await test.request(costing('video=1'))).response.status, 429);
  });

  it('accepts the deprecated Redis fields', async () => {
    const checked = await testPlugin(responseRatelimiting).check({
      ...video,
      policy: 'redis',
      redis_host: 'r',
      redis_port: 1,
    });
    assert.ok(checked.ok);
    const redis = checked.config['redis'] as Config;
    assert.deepEqual([redis['host'], redis['port']], ['r', 1]);
  });
});

for (const policy of ['local', 'cluster']) {
  describe(`the policy ${policy}`, () => {
    it('counts the cost of answers, and sends the remaining count', async (t) => {
      const test = plugin(t, { ...video, policy });
      const first = await test.request(costing('video=2'));
      assert.equal(first.response.status, 200);
      assert.deepEqual(limitHeaders(first.response.headers), {
        'x-ratelimit-limit-video-hour': ['5'],
        'x-ratelimit-remaining-video': ['5'],
        'x-ratelimit-remaining-video-hour': ['3'],
      });
      assert.equal(first.response.header('x-kong-limit'), null);
      assert.deepEqual(limitHeaders(first.upstream?.headers ?? {}), {});
      const second = await test.request(costing('video=1'));
      assert.equal(second.response.header('x-ratelimit-remaining-video'), '3');
      assert.equal(second.response.header('x-ratelimit-remaining-video-hour'), '2');
    });

    it('answers 429 without a body once a limit is used up', async (t) => {
      const test = plugin(t, { ...video, policy });
      await test.request(costing('video=7'));
      const { response, upstream } = await test.request(costing('video=1'));
      assert.notEqual(upstream, null);
      assert.deepEqual([response.status, response.body, response.header('content-type')], [429, '', null]);
      assert.equal(response.header('x-ratelimit-remaining-video-hour'), '0');
      assert.equal((await test.request(costing('image=1'))).response.body, 'film');
      assert.equal((await test.request(costing('video=1', '192.0.2.2'))).response.status, 200);
    });

    it('does not count a refused answer', async (t) => {
      const limits = { video: { hour: 1 }, image: { hour: 3 } };
      const test = plugin(t, { limits, policy });
      await test.request(costing('video=1'));
      assert.equal((await test.request(costing('image=1, video=1'))).response.status, 429);
      const { response } = await test.request(costing(''));
      assert.equal(response.header('x-ratelimit-remaining-image'), '3');
    });

    it('refuses before the backend with block_on_first_violation', async (t) => {
      const test = plugin(t, { ...video, policy, block_on_first_violation: true });
      await test.request(costing('video=5'));
      const { response, upstream } = await test.request({ ...costing(''), headers: { Accept: 'application/json' } });
      assert.deepEqual([response.status, upstream], [429, null]);
      assert.match(response.body, /"message": ?"API rate limit exceeded for 'video'"/);
    });
  });
}

describe('the header of the backend', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['video=2,image=9', 3],
    [' video = 2 ', 3],
    ['video=-2', 5],
    ['video=1e3', 5],
    ['video=', 5],
    ['video=0', 5],
    ['video', 5],
    ['=2, video=1=2', 5],
    ['video=1, video=3', 2],
    ['VIDEO=2', 5],
    ['video=99999999999999999999', 5],
    ['__proto__=1,constructor=1', 5],
  ];
  for (const [value, remaining] of cases) {
    it(`leaves ${remaining} of 5 after '${value}'`, async (t) => {
      const { response } = await plugin(t, { ...video, policy: 'cluster' }).request(costing(value));
      assert.equal(response.header('x-ratelimit-remaining-video-hour'), String(remaining));
    });
  }

  it('has the configured name', async (t) => {
    const test = plugin(t, { ...video, policy: 'cluster', header_name: 'X-Cost' });
    const backend = { headers: { 'x-cost': 'video=4', 'X-Kong-Limit': 'video=1' } };
    const { response } = await test.request({ backend });
    assert.equal(response.header('x-ratelimit-remaining-video-hour'), '1');
    assert.deepEqual([response.header('x-cost'), response.header('x-kong-limit')], [null, 'video=1']);
  });
});

describe('the counted client', () => {
  const consumer = { id: '7f6b8c1e-0000-4000-8000-0000000000aa', username: 'ada', customId: null, tags: [] };
  const authenticated = definePlugin({
    name: 'test-auth',
    version: '1.0.0',
    priority: 1250,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access(context) {
        const id = context.request.header('x-credential');
        if (id !== null) context.authenticate(consumer, { id, identifier: null });
        return undefined;
      },
    }),
  });

  async function remaining(t: TestContext, limit_by: string, requests: readonly (readonly [string, string])[]) {
    const config = { ...video, policy: 'cluster', limit_by };
    const test = testPlugin(responseRatelimiting, { config, otherPlugins: [{ plugin: authenticated }] });
    t.after(() => test.dispose());
    const left: (string | null)[] = [];
    for (const [credential, clientIp] of requests) {
      const headers: Record<string, string> = credential === '' ? {} : { 'X-Credential': credential };
      const { response } = await test.request({ ...costing('video=1', clientIp), headers });
      left.push(response.header('x-ratelimit-remaining-video-hour'));
    }
    return left;
  }

  const requests = [
    ['c1', '192.0.2.1'],
    ['c2', '192.0.2.2'],
    ['', '192.0.2.2'],
    ['c2', '192.0.2.1'],
  ] as const;

  it('is the consumer, else the address', async (t) => {
    assert.deepEqual(await remaining(t, 'consumer', requests), ['4', '3', '4', '2']);
  });
  it('is the credential, else the address', async (t) => {
    assert.deepEqual(await remaining(t, 'credential', requests), ['4', '4', '4', '3']);
  });
  it('is the address', async (t) => {
    assert.deepEqual(await remaining(t, 'ip', requests), ['4', '4', '3', '3']);
  });
});

it('hides its headers from clients if configured', async (t) => {
  const test = plugin(t, { ...video, policy: 'cluster', hide_client_headers: true });
  const { response } = await test.request(costing('video=1'));
  assert.deepEqual(limitHeaders(response.headers), {});
  assert.equal(response.header('x-kong-limit'), null);
});

describe('when Redis is unavailable', () => {
  // No server listens on port 1.
  const away = { ...video, policy: 'redis', redis: { host: '127.0.0.1', port: 1, timeout: 500 } };

  it('accepts requests, logs it once and counts it', async (t) => {
    const test = plugin(t, away);
    for (let request = 0; request < 3; request++) {
      const { response } = await test.request(costing('video=9'));
      assert.deepEqual([response.status, response.body, limitHeaders(response.headers)], [200, 'film', {}]);
      assert.equal(response.header('x-kong-limit'), null);
    }
    assert.equal(test.logLines.filter((line) => line.message === 'the counters are unavailable').length, 1);
    assert.equal(test.counts.get('response-ratelimiting.limiter_failures'), 3);
  });

  it('answers 500 without fault_tolerant', async (t) => {
    const { response, upstream } = await plugin(t, { ...away, fault_tolerant: false }).request(costing(''));
    assert.deepEqual([response.status, upstream], [500, null]);
  });
});

function limitHeaders(headers: Readonly<Record<string, readonly string[]>>) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.includes('ratelimit')));
}
