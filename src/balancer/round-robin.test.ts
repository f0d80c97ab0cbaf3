import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeTarget, RuntimeUpstream } from '../snapshot/runtime.ts';
import { buildWheel, pickRoundRobin } from './round-robin.ts';

function upstreamOf(weights: readonly number[]): RuntimeUpstream {
  const targets: RuntimeTarget[] = weights.map((weight, index) => ({
    id: `t${index}`,
    host: `h${index}`,
    ip: null,
    port: 80,
    weight,
    slot: 0,
  }));
  return {
    id: 'u',
    name: 'u',
    algorithm: 'round-robin',
    hostHeader: null,
    targets,
    wheel: buildWheel(weights),
    next: 0,
  };
}

function share(wheel: Uint16Array): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const index of wheel) counts[index] = (counts[index] ?? 0) + 1;
  return counts;
}

test('gives each target its weight divided by the greatest common divisor', () => {
  assert.deepEqual(share(buildWheel([100, 200, 700])), { 0: 1, 1: 2, 2: 7 });
  assert.deepEqual([...buildWheel([100, 100, 100])], [0, 1, 2]);
  assert.equal(buildWheel([]).length, 0);
});

test('spreads a heavy target evenly', () => {
  assert.deepEqual([...buildWheel([1, 3])], [1, 0, 1, 1]);
  const wheel = buildWheel([5, 5, 50]);
  let run = 0;
  let longest = 0;
  for (const index of wheel) {
    run = index === 2 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  assert.ok(longest <= 10, `longest run ${longest} of ${wheel.length}`);
});

test('bounds the wheel when weights have no common divisor', () => {
  const wheel = buildWheel([65_535, 65_534, 1]);
  const counts = share(wheel);
  assert.ok(wheel.length <= 16_384);
  assert.ok(Math.abs(counts[0]! / wheel.length - 0.5) < 0.001);
  assert.equal(counts[2], 1);
});

test('walks the wheel round after round', () => {
  const upstream = upstreamOf([1, 1, 2]);
  const seen: Record<string, number> = {};
  for (let turn = 0; turn < 40; turn++) {
    const target = pickRoundRobin(upstream, null);
    seen[target!.id] = (seen[target!.id] ?? 0) + 1;
  }
  assert.deepEqual(seen, { t0: 10, t1: 10, t2: 20 });
});

test('passes over targets that failed in this request, while there is another', () => {
  const upstream = upstreamOf([1, 1]);
  const first = pickRoundRobin(upstream, null)!;
  const second = pickRoundRobin(upstream, [first])!;
  assert.notEqual(second, first);
  assert.ok(pickRoundRobin(upstream, [first, second]) !== null);
});

test('has no target to give when all were removed', () => {
  assert.equal(pickRoundRobin(upstreamOf([]), null), null);
});

test('goes on when the wheel became shorter than its pointer', () => {
  const upstream = upstreamOf([1, 1]);
  upstream.next = 9;
  assert.ok(pickRoundRobin(upstream, null) !== null);
});
