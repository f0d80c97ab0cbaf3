import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressZone, createAddressZone } from './address-zone.ts';
import type { BalanceQuery } from './balancer.ts';
import { buildWheel, RoundRobin } from './round-robin.ts';

function balancerOf(weights: readonly number[]): RoundRobin {
  const targets = weights.map((weight, index) => ({
    id: `t${index}`,
    host: `h${index}`,
    ip: `10.0.0.${index}`,
    port: 80,
    weight,
    slot: index + 2,
  }));
  const zone = new AddressZone(createAddressZone(1), 0);
  return new RoundRobin({
    slot: 1,
    targets,
    zone,
    slots: 0,
    hashOn: null,
    hashFallback: null,
    threshold: 0,
    slowStart: 0,
  });
}

const anyRequest: BalanceQuery = { failedTargets: null, admits: null, hashInput: () => null };

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
  const balancer = balancerOf([1, 1, 2]);
  const seen: Record<string, number> = {};
  for (let turn = 0; turn < 40; turn++) {
    const target = balancer.pick(anyRequest);
    seen[target!.id] = (seen[target!.id] ?? 0) + 1;
  }
  assert.deepEqual(seen, { t0: 10, t1: 10, t2: 20 });
});

test('passes over targets that failed in this request, while there is another', () => {
  const balancer = balancerOf([1, 1]);
  const first = balancer.pick(anyRequest)!;
  const second = balancer.pick({ ...anyRequest, failedTargets: [first] })!;
  assert.notEqual(second, first);
  assert.ok(balancer.pick({ ...anyRequest, failedTargets: [first, second] }) !== null);
});

test('has no target to give when all were removed', () => {
  assert.equal(balancerOf([]).pick(anyRequest), null);
});
