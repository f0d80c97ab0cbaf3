import assert from 'node:assert/strict';
import { describe, it, mock, type TestContext } from 'node:test';
import { DelayQueue } from '../../plugin-kit/limits/index.ts';
import { type TestOutcome, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import throttling from './index.ts';

type Config = Readonly<Record<string, unknown>>;

const begin = Date.UTC(2026, 0, 1);

/** The plugin with a clock and timers that only `pass` advances, and the outcome of its requests by number. */
async function throttled(t: TestContext, config: Config) {
  const plugin = testPlugin(throttling, { config: { limit_by: 'ip', ...config } });
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: begin });
  t.after(() => mock.timers.reset());
  // Sets the plugin up before the clock is controlled.
  await plugin.request({ routed: false });
  const done = new Map<number, TestOutcome>();
  let sent = 0;
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  return {
    plugin,
    /** Sends this many at once. */
    async send(count: number, request: TestRequest = {}): Promise<void> {
      for (let at = 0; at < count; at++) {
        const number = sent++;
        void plugin.request(request).then((outcome) => done.set(number, outcome));
      }
      await settle();
    },
    async pass(milliseconds: number): Promise<void> {
      mock.timers.tick(milliseconds);
      await settle();
    },
    /** Numbers of the requests that were answered with this status. */
    with: (status: number): readonly number[] =>
      [...done].filter(([, { response }]) => response.status === status).map(([number]) => number),
    outcome(number: number): TestOutcome {
      const outcome = done.get(number);
      assert.ok(outcome, `request ${number} still waits`);
      return outcome;
    },
  };
}

describe('the configuration', () => {
  const { check } = testPlugin(throttling);

  it('has defaults', async () => {
    assert.deepEqual(await check({ rate: '10r/s' }), {
      ok: true,
      config: {
        rate: '10r/s',
        burst: 0,
        queue_size: 100,
        max_wait: 10_000,
        max_waiting: 1000,
        limit_by: 'consumer',
        header_name: null,
        ipv6_prefix: 64,
        error_code: 429,
        error_message: 'Too many requests',
      },
    });
  });

  const faults: readonly (readonly [Config, RegExp])[] = [
    [{}, /config\.rate: required field missing/],
    ...['10', '0r/s', '-1r/s', '1.5r/s', '10r/h', '10 r/s', '10r/s ', '1e3r/s', '99999999r/s', '010r/s'].map(
      (rate) => [{ rate }, /config\.rate: must be a rate such as 10r\/s or 300r\/m/] as const,
    ),
    [{ rate: '1r/s', burst: -1 }, /config\.burst: value should be between 0 and 1000000/],
    [{ rate: '1r/s', queue_size: 0 }, /config\.queue_size: value should be between 1 and 100000/],
    [{ rate: '1r/s', max_wait: 0 }, /config\.max_wait: value should be between 1 and 600000/],
    [{ rate: '1r/s', max_waiting: 0 }, /config\.max_waiting: value should be between 1 and 100000/],
    [{ rate: '1r/s', limit_by: 'header' }, /config\.header_name: required field missing/],
  ];
  for (const [config, message] of faults) {
    it(`refuses ${JSON.stringify(config)}`, async () => {
      const result = await check(config);
      assert.ok(!result.ok);
      assert.match(result.message, message);
    });
  }
});

it('forwards requests at the rate, in order of arrival', async (t) => {
  const test = await throttled(t, { rate: '10r/s' });
  await test.send(5);
  assert.deepEqual(test.with(200), [0]);
  for (let turn = 1; turn < 5; turn++) {
    await test.pass(99);
    assert.equal(test.with(200).length, turn);
    await test.pass(1);
    assert.deepEqual(test.with(200), [0, 1, 2, 3, 4].slice(0, turn + 1));
  }
  assert.equal(test.outcome(3).record['throttled_ms'], 300);
  assert.equal(test.outcome(0).record['throttled_ms'], undefined);
  assert.equal(test.plugin.counts.get('throttling.delayed'), 4);
});

it('waits up to minutes with a rate per minute', async (t) => {
  const test = await throttled(t, { rate: '30r/m' });
  await test.send(3);
  await test.pass(2000);
  assert.deepEqual(test.with(200), [0, 1]);
  await test.pass(1999);
  assert.deepEqual(test.with(200), [0, 1]);
  await test.pass(1);
  assert.deepEqual(test.with(200), [0, 1, 2]);
});

it('forwards the burst at once, and queues further requests', async (t) => {
  const test = await throttled(t, { rate: '10r/s', burst: 3 });
  await test.send(6);
  assert.deepEqual(test.with(200), [0, 1, 2, 3]);
  await test.pass(100);
  assert.deepEqual(test.with(200), [0, 1, 2, 3, 4]);
  await test.pass(100);
  assert.deepEqual(test.with(200), [0, 1, 2, 3, 4, 5]);
});

it('refuses requests beyond the queue, with Retry-After', async (t) => {
  const test = await throttled(t, { rate: '2r/s', queue_size: 4 });
  await test.send(7, { headers: { Accept: 'application/json' } });
  assert.deepEqual([test.with(200), test.with(429)], [[0], [5, 6]]);
  const { response, upstream } = test.outcome(5);
  assert.equal(upstream, null);
  assert.match(response.body, /"message": ?"Too many requests"/);
  assert.equal(response.header('retry-after'), '1');
  // A refused request uses no slot: after one request is forwarded, exactly one more fits.
  await test.pass(500);
  await test.send(2);
  assert.deepEqual(test.with(429), [5, 6, 8]);
  await test.pass(2000);
  assert.deepEqual(test.with(200), [0, 1, 2, 3, 4, 7]);
  assert.equal(test.plugin.counts.get('throttling.rejected'), 3);
});

it('refuses at once a request that would wait too long', async (t) => {
  const test = await throttled(t, { rate: '1r/s', max_wait: 2500, error_code: 503, error_message: 'Later' });
  await test.send(5);
  assert.deepEqual([test.with(200), test.with(503)], [[0], [3, 4]]);
  assert.equal(test.outcome(4).response.header('retry-after'), '1');
  await test.pass(500);
  await test.send(1);
  await test.pass(2500);
  assert.deepEqual(test.with(200), [0, 1, 2, 5]);
});

it('sends the time until a slot is free', async (t) => {
  const test = await throttled(t, { rate: '6r/m', max_wait: 10_000 });
  await test.send(3);
  assert.equal(test.outcome(2).response.header('retry-after'), '10');
});

it('limits waiting requests per worker, and still forwards requests that need not wait', async (t) => {
  const test = await throttled(t, { rate: '1r/s', max_waiting: 3 });
  await test.send(6, { clientIp: '192.0.2.1' });
  assert.deepEqual([test.with(200), test.with(429)], [[0], [4, 5]]);
  await test.send(2, { clientIp: '192.0.2.2' });
  assert.deepEqual(
    [test.with(200), test.with(429)],
    [
      [0, 6],
      [4, 5, 7],
    ],
  );
  await test.pass(1000);
  await test.send(2, { clientIp: '192.0.2.3' });
  assert.deepEqual(test.with(200), [0, 6, 1, 8]);
  await test.pass(1000);
  assert.deepEqual(test.with(200), [0, 6, 1, 8, 2, 9]);
});

it('throttles each client separately', async (t) => {
  const test = await throttled(t, { rate: '1r/s', ipv6_prefix: 48 });
  for (const clientIp of ['192.0.2.1', '192.0.2.2', '2001:db8:1::1', '2001:db8:2::1', '2001:db8:1:2::1']) {
    await test.send(1, { clientIp });
  }
  assert.deepEqual(test.with(200), [0, 1, 2, 3]);
  await test.pass(1000);
  assert.deepEqual(test.with(200), [0, 1, 2, 3, 4]);
});

it('throttles all requests to a route or service together', async (t) => {
  for (const limit_by of ['route', 'service']) {
    const test = await throttled(t, { rate: '1r/s', limit_by });
    for (const clientIp of ['192.0.2.1', '192.0.2.2']) await test.send(1, { clientIp });
    assert.deepEqual(test.with(200), [0]);
    mock.timers.reset();
  }
});

describe('a delay queue', () => {
  it('frees a place once, when a delay ends or is cancelled', async () => {
    const queue = new DelayQueue(2);
    const first = queue.delay(60_000);
    const second = queue.delay(1);
    assert.ok(queue.full);
    await second.ended;
    assert.ok(!queue.full);
    second.cancel();
    first.cancel();
    first.cancel();
    await first.ended;
    queue.delay(60_000).cancel();
    const again = [queue.delay(60_000), queue.delay(60_000)];
    assert.ok(queue.full);
    for (const delayed of again) delayed.cancel();
  });
});
