import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import rateLimiting from './index.ts';

type Config = Readonly<Record<string, unknown>>;

function limited(config: Config) {
  return testPlugin(rateLimiting, { config });
}

/** Sets the consumer and credential that the headers name. */
const identity = definePlugin({
  name: 'identity',
  version: '1.0.0',
  priority: 1000,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    access(context) {
      const consumer = context.request.header('consumer');
      const credential = context.request.header('credential');
      context.authenticate(
        consumer === null ? null : { id: consumer, username: consumer, customId: null, tags: [] },
        credential === null ? null : { id: credential, identifier: credential },
      );
      return undefined;
    },
  }),
});

async function problem(config: Config): Promise<string> {
  const result = await testPlugin(rateLimiting).check(config);
  return result.ok ? 'accepted' : result.message;
}

/** Statuses of these requests, sent one after the other. */
async function statuses(
  config: Config,
  requests: readonly TestRequest[],
  otherPlugins = false,
): Promise<readonly number[]> {
  const plugin = testPlugin(rateLimiting, {
    config,
    ...(otherPlugins ? { otherPlugins: [{ plugin: identity }] } : {}),
  });
  const found: number[] = [];
  for (const request of requests) found.push((await plugin.request(request)).response.status);
  return found;
}

test('has the defaults of Kong', async () => {
  const result = await testPlugin(rateLimiting).check({ minute: 5 });
  assert.ok(result.ok);
  const { limit_by, policy, fault_tolerant, hide_client_headers, error_code, error_message, sync_rate } = result.config;
  assert.deepEqual(
    { limit_by, policy, fault_tolerant, hide_client_headers, error_code, error_message, sync_rate },
    {
      limit_by: 'consumer',
      policy: 'local',
      fault_tolerant: true,
      hide_client_headers: false,
      error_code: 429,
      error_message: 'API rate limit exceeded',
      sync_rate: -1,
    },
  );
});

test('refuses a contradictory configuration and names the field', async () => {
  assert.match(await problem({}), /at least one of these fields must be non-empty: 'config\.second', 'config\.minute'/);
  assert.match(
    await problem({ minute: 2, hour: 1 }),
    /The limit for hour\(1\.0\) cannot be lower than the limit for minute\(2\.0\)/,
  );
  assert.match(await problem({ minute: 0 }), /config\.minute: value must be greater than 0/);
  assert.match(await problem({ minute: 1, sync_rate: 1 }), /sync_rate can only be used with the redis policy/);
  const redis = { host: 'localhost' };
  assert.match(
    await problem({ minute: 1, policy: 'redis', redis, sync_rate: 0.01 }),
    /sync_rate must be greater than 0\.02, or -1 to disable/,
  );
  assert.match(await problem({ minute: 1, policy: 'redis' }), /config\.redis: \{\s+host = "required field missing"/);
  assert.match(await problem({ minute: 1, limit_by: 'header' }), /config\.header_name: required field missing/);
  assert.match(await problem({ minute: 1, limit_by: 'path' }), /config\.path: required field missing/);
  for (const rate of ['10', '10r/h', '0r/s', '-1r/s', '1.5r/s', '10 r/s', '10r/s ', 'r/s']) {
    assert.match(await problem({ rate }), /config\.rate: must be a rate such as 10r\/s or 300r\/m/, rate);
  }
  for (const size of ['10', '0m', '1k', '2g', '10mb']) {
    assert.match(
      await problem({ rate: '1r/s', zone_size: size }),
      /config\.zone_size: must be a size from 32k to 1g/,
      size,
    );
  }
  assert.match(await problem({ rate: '1r/s', zone: 'a/b' }), /config\.zone/);
  assert.match(await problem({ rate: '1r/m', burst: 61 }), /config\.burst: the last of them would wait/);
  assert.equal(await problem({ rate: '1r/m', burst: 61, nodelay: true }), 'accepted');
  assert.equal(await problem({ rate: '10r/s', zone_size: '64m', burst: 20, nodelay: true }), 'accepted');
});

test('accepts requests within the limit with the remaining count, and refuses the next one', async () => {
  const plugin = limited({ hour: 2, day: 10 });
  const first = (await plugin.request()).response;
  assert.equal(first.status, 200);
  assert.equal(first.header('x-ratelimit-limit-hour'), '2');
  assert.equal(first.header('x-ratelimit-remaining-hour'), '1');
  assert.equal(first.header('x-ratelimit-limit-day'), '10');
  assert.equal(first.header('x-ratelimit-remaining-day'), '9');
  assert.equal(first.header('ratelimit-limit'), '2');
  assert.equal(first.header('ratelimit-remaining'), '1');
  const reset = Number(first.header('ratelimit-reset'));
  assert.ok(reset >= 1 && reset <= 3600);
  assert.equal(first.header('retry-after'), null);
  await plugin.request();
  const { response, upstream } = await plugin.request();
  assert.equal(upstream, null);
  assert.equal(response.status, 429);
  assert.match(response.body, /"message":"API rate limit exceeded"/);
  assert.equal(response.header('x-ratelimit-remaining-hour'), '0');
  assert.equal(response.header('x-ratelimit-remaining-day'), '8', 'what is refused is not counted');
  assert.equal(response.header('retry-after'), response.header('ratelimit-reset'));
  assert.equal(plugin.counts.get('rate-limiting.rejected'), 1);
});

test('refuses with the configured status and message, and can hide headers', async () => {
  const plugin = limited({ hour: 1, error_code: 503, error_message: 'later', hide_client_headers: true });
  const first = (await plugin.request()).response;
  assert.equal(first.header('x-ratelimit-limit-hour'), null);
  const { response } = await plugin.request();
  assert.equal(response.status, 503);
  assert.match(response.body, /later/);
  assert.equal(response.header('retry-after'), null);
});

test('counts by consumer, credential, address, service, header or path', async () => {
  const from = (clientIp: string, headers: Readonly<Record<string, string>> = {}): TestRequest => ({
    clientIp,
    headers,
  });
  const [ada, eve] = [
    { consumer: 'ada', credential: 'k1' },
    { consumer: 'eve', credential: 'k2' },
  ];
  assert.deepEqual(
    await statuses({ hour: 1 }, [from('10.0.0.1'), from('10.0.0.2'), from('10.0.0.1')]),
    [200, 200, 429],
  );
  assert.deepEqual(
    await statuses({ hour: 1 }, [from('10.0.0.1', ada), from('10.0.0.1', eve), from('10.0.0.2', ada)], true),
    [200, 200, 429],
  );
  const other = { consumer: 'ada', credential: 'k3' };
  const byCredential = { hour: 1, limit_by: 'credential' };
  assert.deepEqual(
    await statuses(byCredential, [from('::1', ada), from('::1', other), from('::1', ada)], true),
    [200, 200, 429],
  );
  assert.deepEqual(await statuses({ hour: 1, limit_by: 'service' }, [from('10.0.0.1'), from('10.0.0.2')]), [200, 429]);
  const byHeader = { hour: 1, limit_by: 'header', header_name: 'X-Tenant' };
  const tenant = (name: string) => ({ 'x-tenant': name });
  assert.deepEqual(
    await statuses(byHeader, [from('::1', tenant('a')), from('::1', tenant('b')), from('10.0.0.1', tenant('a'))]),
    [200, 200, 429],
  );
  assert.deepEqual(
    await statuses(byHeader, [from('::1', tenant('10.0.0.1')), from('10.0.0.1')]),
    [200, 200],
    'a header cannot use up what an address has',
  );
  const byPath = { hour: 1, limit_by: 'path', path: '/dear' };
  const requests = [
    { path: '/dear', clientIp: '10.0.0.1' },
    { path: '/dear?x', clientIp: '10.0.0.2' },
    { path: '/cheap' },
  ];
  assert.deepEqual(await statuses(byPath, requests), [200, 429, 200]);
});

test('counts an IPv6 client by its network, and a mapped address as IPv4', async () => {
  const from = (...addresses: readonly string[]): readonly TestRequest[] => addresses.map((clientIp) => ({ clientIp }));
  const config = { hour: 1, limit_by: 'ip' };
  assert.deepEqual(await statuses(config, from('2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:1::1')), [200, 429, 200]);
  const narrow = { ...config, ipv6_prefix: 128 };
  assert.deepEqual(await statuses(narrow, from('2001:db8::1', '2001:db8::2', '2001:db8:0::1')), [200, 200, 429]);
  assert.deepEqual(await statuses(config, from('::ffff:10.0.0.1', '10.0.0.1', '::ffff:10.0.0.2')), [200, 429, 200]);
});

test('weights the previous window in a sliding window', async () => {
  const plugin = limited({ second: 1000, window_type: 'sliding' });
  assert.equal((await plugin.request()).response.header('x-ratelimit-remaining-second'), '999');
});

test('rejects requests beyond the burst of an even rate, with Retry-After', async () => {
  const plugin = limited({ rate: '6r/m' });
  assert.equal((await plugin.request()).response.status, 200);
  const { response } = await plugin.request();
  assert.equal(response.status, 429);
  assert.equal(response.header('retry-after'), '10');
  assert.equal((await plugin.request({ clientIp: '10.0.0.9' })).response.status, 200);
});

test('delays requests of a burst, except with nodelay', async () => {
  const waiting = limited({ rate: '20r/s', burst: 3 });
  const begun = performance.now();
  const found = await Promise.all(Array.from({ length: 5 }, () => waiting.request()));
  assert.deepEqual(found.map(({ response }) => response.status).toSorted(), [200, 200, 200, 200, 429]);
  const took = performance.now() - begun;
  assert.ok(took >= 145, `${took} ms`);
  assert.equal(waiting.counts.get('rate-limiting.delayed'), 3);
  const hurried = limited({ rate: '1r/m', burst: 3, nodelay: true });
  const all = await Promise.all(Array.from({ length: 5 }, () => hurried.request()));
  assert.equal(all.filter(({ response }) => response.status === 200).length, 4);
});

test('shares counts between instances with the same zone', async () => {
  const shared = { rate: '1r/m', zone: 'common' };
  const plugin = testPlugin(rateLimiting, { config: shared });
  await plugin.request();
  assert.equal((await plugin.request()).response.status, 429);
});

test('does not count requests in a window that the rate rejects', async () => {
  const plugin = limited({ rate: '1r/m', hour: 5 });
  assert.equal((await plugin.request()).response.header('x-ratelimit-remaining-hour'), '4');
  assert.equal((await plugin.request()).response.status, 429);
  assert.equal((await plugin.request({ clientIp: '10.0.0.9' })).response.header('x-ratelimit-remaining-hour'), '4');
});

test('refuses nothing in a dry run, and logs its decision', async () => {
  for (const config of [{ hour: 1 }, { rate: '1r/m' }]) {
    const plugin = limited({ ...config, dry_run: true });
    await plugin.request();
    const { response, record: logged } = await plugin.request();
    assert.equal(response.status, 200);
    assert.equal(logged['rate_limiting_dry_run'], 'rejected');
    assert.equal(plugin.counts.get('rate-limiting.dry_run_rejected'), 1);
  }
});
