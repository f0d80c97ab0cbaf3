import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WindowLimit, WindowVerdict } from '../../plugin-sdk/limits.ts';
import { createLimitTools } from './limit-tools.ts';
import { windowAt } from './window-counts.ts';

const midday = Date.UTC(2030, 0, 1, 12);
const hour = 3_600_000;

function start(limits: readonly WindowLimit[], windowType: 'fixed' | 'sliding' = 'fixed', bytes = 1 << 16) {
  const memory = new SharedArrayBuffer(bytes);
  const time = { now: midday };
  const tools = createLimitTools({ worker: 0, zone: () => memory, lease: async () => [] });
  const limiter = tools.windows({
    namespace: 'n',
    zone: 'z',
    policy: 'local',
    limits,
    windowType,
    now: () => time.now,
  });
  const take = (key = 'k', cost = 1): WindowVerdict => limiter.take(key, cost) as WindowVerdict;
  return { time, take, limiter };
}

test('a fixed window accepts its limit, reports what is left and when it begins again', () => {
  const { time, take } = start([{ period: 'minute', limit: 2 }]);
  time.now += 15_000;
  assert.deepEqual(take(), {
    allowed: true,
    violated: -1,
    windows: [{ period: 'minute', limit: 2, remaining: 1, reset: 45 }],
  });
  assert.equal(take().allowed, true);
  const refused = take();
  assert.equal(refused.allowed, false);
  assert.equal(refused.violated, 0);
  assert.equal(refused.windows[0]?.remaining, 0);
  time.now = midday + 60_000;
  assert.equal(take().allowed, true);
});

test('a request that one window rejects is counted in none', () => {
  const { time, take } = start([
    { period: 'second', limit: 1 },
    { period: 'hour', limit: 3 },
  ]);
  for (let at = 0; at < 3; at++) {
    assert.equal(take().allowed, true);
    for (let more = 0; more < 10; more++) assert.equal(take().violated, 0);
    time.now += 1000;
  }
  assert.equal(take().violated, 1);
});

test('keys and namespaces are separate, and a larger cost is taken in full or not at all', () => {
  const { take, limiter } = start([{ period: 'hour', limit: 10 }]);
  assert.equal(take('a', 8).allowed, true);
  assert.equal(take('a', 3).allowed, false);
  assert.equal(take('a', 2).allowed, true);
  assert.equal(take('b', 10).allowed, true);
  assert.equal((limiter.add('b', 5) as WindowVerdict).windows[0]?.remaining, 0);
  assert.equal((limiter.peek('c') as WindowVerdict).windows[0]?.remaining, 10);
  assert.equal((limiter.peek('a') as WindowVerdict).allowed, false);
});

test('a sliding window still counts its part of the previous one', () => {
  const { time, take } = start([{ period: 'minute', limit: 10 }], 'sliding');
  for (let at = 0; at < 10; at++) assert.equal(take().allowed, true);
  time.now = midday + 60_000;
  assert.equal(take().allowed, false, 'all of the last minute counts');
  time.now = midday + 90_000;
  let passed = 0;
  while (take().allowed) passed++;
  assert.equal(passed, 5, 'half of it is');
  time.now = midday + 200_000;
  passed = 0;
  while (take().allowed) passed++;
  assert.equal(passed, 10, 'two windows later none of it is');
});

test('a clock that is set back by an hour neither locks out nor opens more than one window', () => {
  const { time, take } = start([{ period: 'minute', limit: 5 }]);
  while (take().allowed);
  time.now -= hour;
  let passed = 0;
  while (take().allowed) passed++;
  assert.equal(passed, 5);
  time.now += hour;
  while (take().allowed);
  time.now += hour;
  passed = 0;
  while (take().allowed) passed++;
  assert.equal(passed, 5);
});

test('a clock that is set back slightly over the edge of a window opens nothing', () => {
  const { time, take } = start([{ period: 'second', limit: 5 }]);
  while (take().allowed);
  time.now -= 10;
  assert.equal(take().allowed, false);
});

test('a clock that goes back and forth over the edge of a window opens nothing either', () => {
  const { time, take } = start([{ period: 'second', limit: 5 }]);
  while (take().allowed);
  for (let turn = 0; turn < 5; turn++) {
    time.now -= 10;
    assert.equal(take().allowed, false);
    time.now += 15;
    assert.equal(take().allowed, false, 'it is the same second again');
  }
  time.now += 1000;
  let passed = 0;
  while (take().allowed) passed++;
  assert.equal(passed, 5);
});

test('it agrees with a plain model on random requests, periods and times', () => {
  const periods = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;
  let seed = 20261121;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const limits = periods.map((period, at) => ({ period, limit: 5 * (at + 1) }));
  const { time, take } = start(limits, 'fixed', 1 << 18);
  const model = new Map<string, number>();
  for (let round = 0; round < 20_000; round++) {
    time.now += random(3) === 0 ? random(2_000_000) : random(300);
    const key = `k${random(20)}`;
    const cost = 1 + random(3);
    const places = limits.map(({ period }) => `${key}/${period}/${windowAt(period, time.now).start}`);
    const violated = limits.findIndex(({ limit }, at) => (model.get(places[at]!) ?? 0) + cost > limit);
    if (violated < 0) for (const place of places) model.set(place, (model.get(place) ?? 0) + cost);
    const verdict = take(key, cost);
    assert.equal(verdict.violated, violated);
    assert.deepEqual(
      verdict.windows.map(({ remaining }) => remaining),
      limits.map(({ limit }, at) => limit - (model.get(places[at]!) ?? 0)),
    );
  }
});
