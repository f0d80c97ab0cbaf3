import assert from 'node:assert/strict';
import { describe, it, mock, type TestContext } from 'node:test';
import { WaitingRoom } from '../../plugin-sdk/index.ts';
import { type TestOutcome, type TestRequest, testPlugin } from '../../plugin-sdk/testing.ts';
import throttling from './index.ts';

type Config = Readonly<Record<string, unknown>>;

const begin = Date.UTC(2026, 0, 1);

/** The plugin by a clock and timers that only `pass` moves; and what became of its requests, by their number. */
async function throttled(t: TestContext, config: Config) {
  const plugin = testPlugin(throttling, { config: { limit_by: 'ip', ...config } });
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: begin });
  t.after(() => mock.timers.reset());
  // Sets the plugin up, which takes as long as it takes.
  await plugin.request({ routed: false });
  const done = new Map<number, TestOutcome>();
  let sent = 0;
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  return {
    plugin,
    /** Sends so many at once. */
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
    it(`cannot be ${JSON.stringify(config)}`, async () => {
      const result = await check(config);
      assert.ok(!result.ok);
      assert.match(result.message, message);
    });
  }
});

it('lets requests go on at the rate, in the order in which they came', async (t) => {
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

it('waits for minutes where the rate is one of minutes', async (t) => {
  const test = await throttled(t, { rate: '30r/m' });
  await test.send(3);
  await test.pass(2000);
  assert.deepEqual(test.with(200), [0, 1]);
  await test.pass(1999);
  assert.deepEqual(test.with(200), [0, 1]);
  await test.pass(1);
  assert.deepEqual(test.with(200), [0, 1, 2]);
});

it('lets the burst go on at once, and those after it wait', async (t) => {
  const test = await throttled(t, { rate: '10r/s', burst: 3 });
  await test.send(6);
  assert.deepEqual(test.with(200), [0, 1, 2, 3]);
  await test.pass(100);
  assert.deepEqual(test.with(200), [0, 1, 2, 3, 4]);
  await test.pass(100);
  assert.deepEqual(test.with(200), [0, 1, 2, 3, 4, 5]);
});

it('refuses what the queue has no room for, and tells when there is', async (t) => {
  const test = await throttled(t, { rate: '2r/s', queue_size: 4 });
  await test.send(7, { headers: { Accept: 'application/json' } });
  assert.deepEqual([test.with(200), test.with(429)], [[0], [5, 6]]);
  const { response, upstream } = test.outcome(5);
  assert.equal(upstream, null);
  assert.match(response.body, /"message": ?"Too many requests"/);
  assert.equal(response.header('retry-after'), '1');
  // What was refused has taken nobody's turn: there is room for exactly one after one has gone on.
  await test.pass(500);
  await test.send(2);
  assert.deepEqual(test.with(429), [5, 6, 8]);
  await test.pass(2000);
  assert.deepEqual(test.with(200), [0, 1, 2, 3, 4, 7]);
  assert.equal(test.plugin.counts.get('throttling.rejected'), 3);
});

it('refuses at once who would have to wait for too long', async (t) => {
  const test = await throttled(t, { rate: '1r/s', max_wait: 2500, error_code: 503, error_message: 'Later' });
  await test.send(5);
  assert.deepEqual([test.with(200), test.with(503)], [[0], [3, 4]]);
  assert.equal(test.outcome(4).response.header('retry-after'), '1');
  await test.pass(500);
  await test.send(1);
  await test.pass(2500);
  assert.deepEqual(test.with(200), [0, 1, 2, 5]);
});

it('tells how long it takes until there is room', async (t) => {
  const test = await throttled(t, { rate: '6r/m', max_wait: 10_000 });
  await test.send(3);
  assert.equal(test.outcome(2).response.header('retry-after'), '10');
});

it('lets so many wait in one worker, whoever they are, and others go on that need not wait', async (t) => {
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

it('throttles each client by itself', async (t) => {
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

describe('a waiting room', () => {
  it('has a free place when a turn has come and when somebody has left, once', async () => {
    const room = new WaitingRoom(2);
    const first = room.enter(60_000);
    const second = room.enter(1);
    assert.ok(room.full);
    await second.come;
    assert.ok(!room.full);
    second.leave();
    first.leave();
    first.leave();
    await first.come;
    room.enter(60_000).leave();
    const again = [room.enter(60_000), room.enter(60_000)];
    assert.ok(room.full);
    for (const turn of again) turn.leave();
  });
});
