import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, request, tally } from './balancer.fixture.ts';
import { recordLatency } from './latency.ts';

test('the faster one of two is preferred', () => {
  const { balancer, zone, targets } = bench('latency', [100, 100]);
  recordLatency(zone, targets[0]!.slot, 50_000);
  recordLatency(zone, targets[1]!.slot, 5000);
  assert.deepEqual(
    tally(200, () => balancer.pick(request())),
    { t1: 200 },
  );
});

test('among many the slow one gets almost nothing, in every worker', () => {
  const { balancer, another, targets } = bench('latency', [1, 1, 1, 1, 1]);
  const workers = [balancer, another().balancer];
  for (const [index, target] of targets.entries()) balancer.answered!(target, index === 2 ? 90_000 : 3000);
  const counts = tally(2000, (turn) => workers[turn % 2]!.pick(request()));
  assert.equal(counts['t2'], undefined);
  assert.ok(Math.min(...Object.values(counts)) > 300, JSON.stringify(counts));
});

test('requests in flight count, and so does the weight', () => {
  const { balancer, zone, targets } = bench('latency', [100, 100]);
  for (const { slot } of targets) recordLatency(zone, slot, 1000);
  zone.begin(targets[0]!.slot);
  assert.equal(balancer.pick(request()), targets[1]);
  const weighted = bench('latency', [100, 300]);
  for (const { slot } of weighted.targets) recordLatency(weighted.zone, slot, 1000);
  for (let turn = 0; turn < 400; turn++) {
    const target = weighted.balancer.pick(request())!;
    weighted.zone.begin(target.slot);
  }
  const held = weighted.targets.map(({ slot }) => weighted.zone.active(slot));
  assert.ok(Math.abs(held[1]! - 300) <= 2, `${held}`);
});

test('a slower sample counts at once, a faster one gradually', () => {
  const { zone, targets, clock } = bench('latency', [1]);
  const { slot } = targets[0]!;
  recordLatency(zone, slot, 1000);
  recordLatency(zone, slot, 80_000);
  assert.equal(zone.latency(slot), 80_000);
  recordLatency(zone, slot, 1000);
  assert.equal(zone.latency(slot), 80_000, 'no time has passed');
  clock.now += 10_000;
  recordLatency(zone, slot, 1000);
  assert.equal(zone.latency(slot), Math.round(80_000 / Math.E + 1000 * (1 - 1 / Math.E)));
  clock.now += 100_000;
  recordLatency(zone, slot, 1000);
  assert.ok(zone.latency(slot) < 1010);
});

test('a slow address is tried again after a while', () => {
  const { balancer, zone, targets, clock } = bench('latency', [1, 1]);
  recordLatency(zone, targets[0]!.slot, 100_000);
  recordLatency(zone, targets[1]!.slot, 10_000);
  assert.equal(balancer.pick(request()), targets[1]);
  let waited = 0;
  while (balancer.pick(request()) === targets[1]) {
    clock.now += 1000;
    waited += 1000;
    recordLatency(zone, targets[1]!.slot, 10_000);
  }
  assert.ok(waited > 20_000 && waited < 30_000, `${waited}`);
});

test('a new address begins with the average of the others', () => {
  const { balancer, zone, targets } = bench('latency', [1, 1, 1]);
  recordLatency(zone, targets[0]!.slot, 2000);
  recordLatency(zone, targets[1]!.slot, 6000);
  tally(200, () => balancer.pick(request()));
  assert.equal(zone.latency(targets[2]!.slot), 4000);
});

test('without any sample all get requests', () => {
  const { balancer } = bench('latency', [1, 1, 1]);
  const counts = tally(600, () => balancer.pick(request()));
  assert.ok(Math.min(counts['t0'] ?? 0, counts['t1'] ?? 0, counts['t2'] ?? 0) > 100, JSON.stringify(counts));
});

test('samples that are not durations are ignored', () => {
  const { zone, targets } = bench('latency', [1]);
  const { slot } = targets[0]!;
  for (const sample of [Number.NaN, -1]) recordLatency(zone, slot, sample);
  assert.equal(zone.latency(slot), 0);
  recordLatency(zone, slot, Number.POSITIVE_INFINITY);
  assert.ok(zone.latency(slot) > 1e9);
  recordLatency(zone, 0, 1000);
  assert.equal(zone.latency(0), 0);
});
