import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, request, seeded, tally } from './balancer.fixture.ts';

test('equal weights never differ by more than one request, over all workers', (t) => {
  const random = seeded((text) => t.diagnostic(text));
  const first = bench('least-connections', [100, 100, 100, 100, 100]);
  const { zone, targets } = first;
  const workers = [first, first.another(), first.another()];
  for (let round = 0; round < 500; round++) {
    const worker = workers[random(3)]!;
    worker.zone.begin(worker.balancer.pick(request())!.slot);
    const counts = targets.map(({ slot }) => zone.active(slot));
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
  }
});

test('not even when other workers pick while one is still comparing', (t) => {
  const random = seeded((text) => t.diagnostic(text));
  const first = bench('least-connections', [100, 100, 100]);
  const { zone, targets } = first;
  const others = [first.another(), first.another()];
  const compare = zone.leastActive.bind(zone);
  zone.leastActive = (...parts) => {
    const found = compare(...parts);
    const { minFound } = zone;
    const picks = Math.max(0, random(8) - 4);
    for (let round = 0; round < picks; round++) {
      const other = others[random(2)]!;
      other.zone.begin(other.balancer.pick(request())!.slot);
    }
    zone.minFound = minFound;
    return found;
  };
  for (let round = 0; round < 500; round++) {
    zone.begin(first.balancer.pick(request())!.slot);
    const counts = targets.map(({ slot }) => zone.active(slot));
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
  }
});

test('requests in flight are in proportion to the weights', () => {
  const { balancer, zone, targets } = bench('least-connections', [100, 200, 700]);
  for (let round = 0; round < 1000; round++) zone.begin(balancer.pick(request())!.slot);
  const counts = targets.map(({ slot }) => zone.active(slot));
  assert.deepEqual(counts, [100, 200, 700]);
});

test('a fast address gets the new requests, a slow one does not', () => {
  const { balancer, zone, targets } = bench('least-connections', [1, 1]);
  const counts = tally(100, () => {
    const target = balancer.pick(request())!;
    zone.begin(target.slot);
    if (target === targets[1]) zone.end(target.slot);
    return target;
  });
  assert.equal(counts['t0'], 1);
});

test('equal addresses are picked in rotation', () => {
  const { balancer, zone, targets } = bench('least-connections', [1, 1, 1, 1]);
  const one = () => {
    const target = balancer.pick(request())!;
    zone.begin(target.slot);
    zone.end(target.slot);
    return target;
  };
  assert.deepEqual(tally(100, one), { t0: 25, t1: 25, t2: 25, t3: 25 });
  for (let round = 0; round < 5; round++) zone.begin(targets[1]!.slot);
  const { t0 = 0, t2 = 0, t3 = 0, t1 } = tally(1200, one);
  assert.equal(t1, undefined);
  assert.ok(Math.min(t0, t2, t3) > 360 && Math.max(t0, t2, t3) < 440, `${t0} ${t2} ${t3}`);
});

test('an unused choice is not counted for long', () => {
  const { balancer, zone, targets } = bench('least-connections', [1, 1, 1]);
  for (let round = 0; round < 10; round++) balancer.pick(request());
  zone.begin(targets[0]!.slot);
  zone.end(targets[0]!.slot);
  zone.begin(targets[1]!.slot);
  zone.end(targets[1]!.slot);
  assert.deepEqual(
    targets.map(({ slot }) => zone.active(slot)),
    [0, 0, 0],
  );
});
